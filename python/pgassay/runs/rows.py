"""The rows of one run in the tables that are made of JSON files.

Enters: the path of a run or observation. Leaves: rows as mappings; keys that a run lacks are
absent. Never: analyses anything: what a run has no analysis for has no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pgassay.samples.directory import StoredDirectory
from pgassay.samples.forms.analysis import Compared
from pgassay.samples.forms.environment import Setting
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.overview import overview_of
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.stored_parts import StoredTrial
from pgassay.stored_notes import CODED
from pgassay.stores.address import shown

Row = Mapping[str, Any]


def directory(path: Path) -> StoredDirectory:
    """Opens the directory of a run or an observation."""
    return (ObservationDirectory if ObservationDirectory.is_at(path) else RunDirectory).open(path)


def runs(path: Path) -> Iterator[Row]:
    """Makes the row of a run."""
    found, run = overview_of(path), directory(path)
    environment = run.environment()
    host = environment.host
    yield {
        "path": shown(path),
        "kind": "run" if isinstance(run, RunDirectory) else "observation",
        "state": found.state.value,
        "question": found.question,
        "verdict": found.verdict,
        "badge": found.badge,
        "effect_pct": found.effect_pct,
        "trials": len(run.finished()),
        "started": found.started,
        "pgassay": environment.pgassay,
        "server_version": environment.server.version,
        "data": ", ".join(environment.sizes) or None,
        "kernel": host.kernel,
        "cpu": host.cpu,
        "cpus": host.cpus,
        "memory_bytes": host.memory_bytes,
    }


def comparisons(path: Path) -> Iterator[Row]:
    """Makes a row per comparison of a metric."""
    return map(_compared, directory(path).analysis().comparisons)


def verdicts(path: Path) -> Iterator[Row]:
    """Makes the rows of the primary metric's comparisons, which are the verdicts."""
    found = directory(path).analysis()
    return (_compared(one) for one in found.comparisons if one.metric == found.metric)


def _compared(one: Compared) -> Row:
    ends = {"ci95_low": one.ci95[0], "ci95_high": one.ci95[1]}
    return {
        **one.given,
        **ends,
        "ci95_low_pct": one.ci95_pct[0],
        "ci95_high_pct": one.ci95_pct[1],
    }


def trials(path: Path) -> Iterator[Row]:
    """Makes the rows of finished trials, invalid ones too; none of an observation."""
    run = directory(path)
    for stored in run.trials() if isinstance(run, RunDirectory) else ():
        yield _trial(stored)


def _trial(stored: StoredTrial) -> Row:
    found = stored.summary()
    load, reasons = found.load, found.validity.notes
    done = sum(step.transactions for step in load.measured)
    seconds = sum(step.end_ns - step.start_ns for step in load.measured) / 1e9
    return {
        **found.to_json(),
        "trial": found.number,
        "levels": _label(found.levels),
        "valid": not reasons,
        "reasons": "; ".join(map(str, reasons)) or None,
        "warnings": len(found.notes),
        "reset_s": found.reset.duration_s,
        "transactions": done,
        "failed": sum(step.failed for step in load.measured),
        "tps": done / seconds if seconds else None,
        "client_cpu_s": load.client_cpu_s,
        **{f"latency_{name}_ms": value for name, value in load.latency_ms},
    }


def metrics(path: Path) -> Iterator[Row]:
    """Makes a row per estimate of every trial that counts; `step` is null for the whole trial."""
    for trial in directory(path).analysis().trials:
        of = {"trial": trial.number, "block": trial.block, "arm": trial.arm}
        for part in (trial.whole, *trial.steps):
            for name, value in part.values.items():
                yield {**of, "step": part.level, "metric": name, "value": value}


def arms(path: Path) -> Iterator[Row]:
    """Makes a row per arm and factor."""
    run = directory(path)
    if not isinstance(run, RunDirectory):
        return
    plan = run.plan()
    first = {one.name: one.baseline for one in plan.factors if one.levels}
    for arm in plan.arms:
        for factor, level in arm.levels.items():
            baseline = first.get(factor) == level
            yield {"arm": arm.id, "factor": factor, "level": level, "baseline": baseline}


def statements(path: Path) -> Iterator[Row]:
    """Makes a row per statement and arm; without an arm where only the text is known."""
    run, known = directory(path), set()
    for use in run.analysis().statement_use:
        known.add(use.queryid)
        for arm in use.by_arm:
            yield {**arm, "queryid": use.queryid, "text": use.text}
    for queryid, text in run.statements().items():
        if queryid not in known:
            yield {"queryid": queryid, "text": text}


def settings(path: Path) -> Iterator[Row]:
    """Makes the rows of the server's settings when the run began; those that an arm changes are in
    `arms`."""
    server = directory(path).environment().server
    known = {name: Setting(value=value) for name, value in server.settings.items()}
    for name, found in ({**known, **server.every_setting}).items():
        yield {"name": name, "value": _text(found.value), "source": found.source}


def environment(path: Path) -> Iterator[Row]:
    """Makes rows of host, server, data and reset, with keys like `host.cpus`, without the
    settings."""
    for found, value in _flat(directory(path).environment().given, ""):
        if not found.startswith(("server.every_setting", "server.settings")):
            yield {"key": found, "value": value}


def _flat(value: Any, at: str) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not str(key).endswith(CODED):
                yield from _flat(inner, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _flat(inner, f"{at}[{place}]")
    else:
        yield at, _text(value)


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _label(levels: Mapping[str, Any]) -> str:
    return ", ".join(f"{factor} = {level}" for factor, level in levels.items())
