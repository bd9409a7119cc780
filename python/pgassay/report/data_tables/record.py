"""Where and how a run was made, as tables: facts, plan, environment, settings, findings, caveats.

Enters: the context. Leaves: tables. Never: relies on a key of environment.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Evidence, Finding
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.model import table_of
from pgassay.report.data_tables.trials import every_trial
from pgassay.report.document.table import Table
from pgassay.report.environment import created_at, server_version
from pgassay.report.summaries.caveats import caveats_of
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.spec.secrets.redaction import shown_of
from pgassay.stored_notes import CODED

_EXPERIMENT = "experiment"
_ELSEWHERE = ("schema", "every_setting", "settings", "settings_that_differ")


def record_tables(context: ReportContext) -> Iterator[Table]:
    """Yields the tables from findings to the environment, in the order of the report."""
    yield table_of("findings", map(finding_row, context.findings))
    yield table_of("caveats", _caveats(context))
    yield table_of("noise", _noise(context))
    yield table_of("plan", _plan(context))
    yield table_of("settings", _settings(context))
    yield table_of("environment", environment_rows(context.environment))


def run_table(context: ReportContext) -> Table:
    """What was asked, of which run, how it was designed."""
    plan, analysis = context.plan, context.analysis
    rows: list[tuple[str, Any, str]] = [
        ("run", context.run_name, ""),
        ("question", context.question, ""),
        ("pgassay", context.version, ""),
        ("server", server_version(context.environment), ""),
        ("created", created_at(context.environment), ""),
        ("primary metric", analysis.answer.metric, ""),
        ("primary metric in words", METRICS[analysis.answer.metric].title, ""),
        ("smallest effect that matters", 100.0 * analysis.answer.smallest_effect, "%"),
        ("interval", analysis.answer.interval, ""),
        ("verdicts that share 5 %", analysis.answer.simultaneous, ""),
        ("mode", plan.mode, ""),
        ("combinations of levels", plan.combinations, ""),
        ("randomisation of a block", plan.plots, ""),
        ("stopping", plan.stops, ""),
        ("complete blocks", analysis.answer.blocks, ""),
        ("fewest blocks", plan.min_blocks, ""),
        ("most blocks", plan.max_blocks, ""),
        ("trials that count", len(analysis.answer.trials), ""),
        ("trials that do not count", len(analysis.answer.invalid_trials), ""),
        ("measured time of a trial", plan.measured_s, "s"),
        ("seed", str(plan.seed), ""),
        ("identical arms (A/A run)", plan.calibrates, ""),
        ("command that repeats it", context.command, ""),
    ]
    return table_of("run", ({"name": n, "value": v, "unit": u} for n, v, u in rows))


def environment_rows(environment: EnvironmentFile) -> Iterator[dict[str, Any]]:
    """Every value by its path, but for the settings."""
    for part, inner in environment.given.items():
        if part in _ELSEWHERE:
            continue
        if part == "servers" and isinstance(inner, Mapping):
            for name, server in inner.items():
                for path, value in _flat(server):
                    shown = _shown(path, value)
                    yield {"part": "server", "name": path, "value": shown, "of": str(name)}
            continue
        found = inner if isinstance(inner, Mapping) else {part: inner}
        of = part if isinstance(inner, Mapping) else "run"
        for path, value in _flat(found):
            yield {"part": of, "name": path, "value": _shown(path, value), "of": None}


def _shown(path: str, value: Any) -> Any:
    """A value without secrets."""
    return shown_of(path.rpartition(".")[2], value) if isinstance(value, str) else value


def _flat(value: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every value."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _ELSEWHERE and not str(key).endswith(CODED):
                yield from _flat(inner, f"{before}.{key}" if before else str(key))
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for place, one in enumerate(value, 1):
            yield from _flat(one, f"{before}.{place}" if before else str(place))
    else:
        yield before, value


def setting_rows(environment: EnvironmentFile) -> Iterator[dict[str, Any]]:
    """Every setting as it was when the run began; those that differ by server."""
    server = environment.server
    stored: dict[str, tuple[Any, Any]] = {n: (one, None) for n, one in server.settings.items()}
    stored |= {name: (one.value, one.source) for name, one in server.every_setting.items()}
    for name, (value, source) in sorted(stored.items()):
        yield _setting(name, value, source)
    for name, by_server in sorted(environment.settings_that_differ.items()):
        for of, value in by_server.items():
            yield {**_setting(name, value, None), "label": str(of)}


def _settings(context: ReportContext) -> Iterator[dict[str, Any]]:
    yield from setting_rows(context.environment)
    asked = {one.arm: dict(one.settings) for one in context.facts.asked}
    for arm in context.plan.arms:
        own = asked.get(arm.id, {}) | arm.settings | arm.session_settings | arm.knobs
        for name, value in own.items():
            yield {**_setting(name, value, _EXPERIMENT), "arm": arm.id, "label": arm.label}


def _setting(name: str, value: Any, source: Any) -> dict[str, Any]:
    shown = value if value is None else shown_of(name, str(value))
    return {"setting": name, "value": shown, "source": source, "arm": None, "label": None}


def finding_row(one: Finding) -> dict[str, Any]:
    return {
        **vars(one),
        "title": str(one.title),
        "text": one.text,
        "evidence": list(map(_evidence, one.evidence)) or None,
        "confirm": str(one.confirm or ""),
        "refute": str(one.refute or ""),
    }


def _evidence(one: Evidence) -> str:
    return f"{one.metric}: {one.figure}" + (f" ({one.arm})" if one.arm else "")


def _caveats(context: ReportContext) -> Iterator[dict[str, Any]]:
    for importance, notes in caveats_of(context).items():
        yield from ({"importance": importance, "text": str(note)} for note in notes)


def _noise(context: ReportContext) -> Iterator[dict[str, Any]]:
    """How much trials of one arm differ; of a switchback or duet differences of arms."""
    noise = context.analysis.noise.floor
    if noise is None:
        return
    for one in noise.metrics:
        yield {
            "metric": one.metric,
            "of": "trials of one arm",
            "trials": one.trials,
            "sd_pct": 100.0 * one.trial_sd,
            "sd_ci95": _times_100(one.trial_sd_ci95),
            "measured_s": one.measured_s,
        }
    if noise.turns is not None:
        yield {
            "metric": noise.turns.metric,
            "of": "differences of arms in a trial",
            "trials": noise.turns.trials,
            "sd_pct": 100.0 * noise.turns.trial_sd,
            "sd_ci95": None,
            "measured_s": noise.turns.measured_s,
        }


def _times_100(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (100.0 * ends[0], 100.0 * ends[1])


def _plan(context: ReportContext) -> Iterator[dict[str, Any]]:
    ran = {one.number for one in every_trial(context)}
    for trial in context.plan.trials:
        yield {
            **vars(trial),
            "trial": trial.number,
            "label": context.plan.arm(trial.arm).label,
            "ran": trial.number in ran,
        }
