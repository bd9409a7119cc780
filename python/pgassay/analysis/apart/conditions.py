"""Is a comparison of these runs of any meaning, and what else is not the same in them?

Enters: the runs' plans, files and environments. Leaves: reasons against the comparison; what
differs, each a candidate for what changed the figures. Never: calls a difference a cause.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

from pgassay.analysis.apart.model import ApartRun, ConditionDifference, Side
from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.notes import Note
from pgassay.spec.secrets.redaction import redacted

_LIMITS = tomllib.loads((files(__package__) / "conditions.toml").read_text("utf-8"))
_ABSENT = "not known"
_CONTENT = ("schema_sql", "data_sql", "scenarios", "variants")
"""Keys of workload.json that decide what is run."""


def reasons_against(sides: Sequence[Side]) -> list[Note]:
    """Returns why figures of these runs say nothing of each other; empty where they may be
    compared."""
    runs = [run for side in sides for run in side.runs]
    found = list[Note]()
    for other in runs[1:]:
        found += _reasons(runs[0], other)
    return list(dict.fromkeys(found))


def _reasons(first: ApartRun, other: ApartRun) -> Iterator[Note]:
    names = [_workload_name(run) for run in (first, other)]
    if _content(first) != _content(other):
        one, another = names
        if one == another:
            yield Note("analysis/apart/content-differs", {"one": one})
        else:
            yield Note.of("analysis/apart/other-workload", one=one, another=another)
    scales = [_in(run.spec, "workload", "scale", 1) for run in (first, other)]
    if scales[0] != scales[1]:
        one, another = map(_text, scales)
        yield Note.of("analysis/apart/other-scale", one=one, another=another)
    loads = [_load(run) for run in (first, other)]
    if loads[0] != loads[1]:
        yield Note.of("analysis/apart/other-load", one=loads[0], another=loads[1])
    metrics = [run.plan.metric for run in (first, other)]
    if metrics[0] != metrics[1]:
        one, another = metrics
        yield Note.of("analysis/apart/other-metric", one=one, another=another)


def _content(run: ApartRun) -> Any:
    """What the load runs on which data; the workload's name where the run does not hold it."""
    if not run.workload:
        return _workload_name(run)
    stored = {key: run.workload.get(key) for key in _CONTENT}
    scenarios = stored["scenarios"] or ()
    # A file may have moved; what counts is its text.
    stored["scenarios"] = [{k: v for k, v in one.items() if k != "file"} for one in scenarios]
    return stored


def _workload_name(run: ApartRun) -> str:
    named = run.workload.get("name") or _in(run.spec, "workload", "use", "payments-write")
    return str(named)


def _load(run: ApartRun) -> Note | str:
    """The measured steps in words, such as `8 clients for 60 s`, and a program that makes them."""
    steps = []
    for step in run.plan.steps:
        if step.measured:
            clients, rate, duration_s = step.clients, step.rate, step.duration_s
            steps.append(
                Note.of("analysis/apart/clients", clients=clients, duration_s=duration_s)
                if rate is None
                else Note.of(
                    "analysis/apart/clients-at-rate",
                    clients=clients,
                    rate=rate,
                    duration_s=duration_s,
                )
            )
    command = _in(run.spec, "load", "command", None)
    others = [f", {n} {_text(v)}" for n in _MORE if (v := _in(run.spec, "load", n, None))]
    made = "" if command is None else f" by {redacted(_text(command))}"
    order = "" if run.plan.order == "ordered" else f", {run.plan.order}"
    more = order + made + "".join(others)
    return steps[0] if len(steps) == 1 and not more else " then ".join(map(str, steps)) + more


def condition_differences(sides: Sequence[Side]) -> tuple[ConditionDifference, ...]:
    """Lists what is known and not the same in all runs: server, settings, host, data, run."""
    groups: Mapping[str, Callable[[ApartRun], Mapping[str, str]]] = {
        "Server": _server,
        "Settings": _settings,
        "Host": _host,
        "Data": lambda run: {name: f"{size:,.0f} bytes" for name, size in _sizes(run).items()},
        "Run": _run,
    }
    found = list[ConditionDifference]()
    for group, facts in groups.items():
        by_side = [[facts(run) for run in side.runs] for side in sides]
        names = dict.fromkeys(name for side in by_side for run in side for name in run)
        if group == "Settings":
            names, lacking = _of_all(names, by_side)
            found += _lacking(lacking, by_side)
        if len({run.get("version") for side in by_side for run in side}) > 1:
            names.pop("build", None)  # it has the version in it
        for name in names:
            values = [[run.get(name, _ABSENT) for run in side] for side in by_side]
            if len({value for side in values for value in side}) > 1 and not (
                group == "Data" and _sizes_are_alike(sides, name)
            ):
                shown = tuple(", ".join(dict.fromkeys(map(redacted, side))) for side in values)
                found.append(ConditionDifference(group, name, shown))
    return tuple(found)


def _of_all(
    names: Mapping[str, None], by_side: Sequence[Sequence[Mapping[str, str]]]
) -> tuple[dict[str, None], list[str]]:
    """The settings that all servers have, and those that only some have, as of other versions."""
    runs = [run for side in by_side for run in side if run]
    shared = {name: None for name in names if all(name in run for run in runs)}
    return shared, [name for name in names if name not in shared]


def _lacking(
    names: Sequence[str], by_side: Sequence[Sequence[Mapping[str, str]]]
) -> Iterator[ConditionDifference]:
    """One row for all settings that only some servers have."""
    if names:
        counts = [sum(any(n in run for run in side) for n in names) for side in by_side]
        shown = tuple(f"{count} of {len(names)}" for count in counts)
        yield ConditionDifference("Settings", "settings that not all servers have", shown)


def _server(run: ApartRun) -> dict[str, str]:
    environment = run.environment
    if environment.servers:
        return {f"version of {n}": _text(one.version) for n, one in environment.servers.items()}
    found = {"version": environment.server.version, "build": environment.server.build}
    known = {name: text for name, text in found.items() if text}
    return {**known, "kind": environment.target or _ABSENT}


def _settings(run: ApartRun) -> dict[str, str]:
    """As the server had them before the arms' levels; without those that name a place."""
    server = run.environment.server
    every = {name: one.value for name, one in server.every_setting.items()}
    found = {name: setting_text(_text(one)) for name, one in (every or server.settings).items()}
    held = _mapping(run.spec, "settings", "postgres")
    found |= {name: _text(value) for name, value in held.items() if name not in found}
    return {n: v for n, v in found.items() if not _is_ignored("settings", n)}


def _host(run: ApartRun) -> dict[str, str]:
    flat = dict(_flat(run.environment.host.given))
    flat |= {f"{n} (held)": _text(v) for n, v in _mapping(run.spec, "settings", "host").items()}
    return {n: v for n, v in flat.items() if not _is_ignored("host", n)}


def _run(run: ApartRun) -> dict[str, str]:
    warmup_s = sum(step.duration_s for step in run.plan.steps if not step.measured)
    at = run.environment
    found = {"pgassay": _text(at.pgassay or _ABSENT), "warm-up": f"{warmup_s:g} s"}
    load = _mapping(run.spec, "load")
    found |= {f"load.{n}": _text(load[n]) for n in load if n not in (*_IN_STEPS, *_MORE)}
    found |= {f"reset, {name}": value for name, value in _flat(at.reset) if name != "seconds"}
    return found | {f"placement, {name}": value for name, value in _flat(at.placement)}


_IN_STEPS = ("clients", "step", "stages", "order", "rate", "warmup", "command")
"""Keys of [load] that the plan's steps hold, and a program."""
_MORE = ("arrivals", "think_time")
"""Others that decide what the load is; the rest are listed where they differ."""


def _sizes(run: ApartRun) -> dict[str, float]:
    sizes = {data: one.total_bytes for data, one in run.environment.sizes.items()}
    return {data: size for data, size in sizes.items() if size is not None}


def _sizes_are_alike(sides: Sequence[Side], name: str) -> bool:
    sizes = [_sizes(run).get(name) for side in sides for run in side.runs]
    known = [size for size in sizes if size is not None]
    return len(known) == len(sizes) and max(known) <= min(known) * (1 + _LIMITS["same"]["size"])


def _is_ignored(group: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _LIMITS["ignored"][group])


def _flat(value: Any, before: str = "") -> Iterator[tuple[str, str]]:
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        name = f"{before}{key}"
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{name}, ")
        else:
            yield name, _text(inner)


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _mapping(value: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    found: Any = value
    for key in keys:
        found = _of(found, key)
    return found if isinstance(found, Mapping) else {}


def _in(spec: Mapping[str, Any], table: str, key: str, usual: Any) -> Any:
    return _mapping(spec, table).get(key, usual)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "(none)"
    return _ABSENT if value is None else str(value) or "(empty)"
