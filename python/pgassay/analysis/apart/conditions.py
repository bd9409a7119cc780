"""Is a comparison of these runs of any meaning, and what else is not the same in them?

Enters: the runs' plans, files and environments. Leaves: reasons against the comparison; what
differs, each a candidate for what changed the figures. Never: calls a difference a cause.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any, NamedTuple

from pgassay.analysis.apart.model import ApartRun, ConditionDifference, Name, Side, Unit
from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.notes import Note, Term, Value
from pgassay.spec.secrets.redaction import redacted
from pgassay.stored_notes import CODED

_LIMITS = tomllib.loads((files(__package__) / "conditions.toml").read_text("utf-8"))
Facts = Mapping[Name, Value | None]


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
    scales = [_value(_in(run.spec, "workload", "scale", 1)) for run in (first, other)]
    if scales[0] != scales[1]:
        yield Note("analysis/apart/other-scale", {"one": scales[0], "another": scales[1]})
    loads = [_load(run) for run in (first, other)]
    if loads[0] != loads[1]:
        notes = [_load_note(load) for load in loads]
        yield Note.of("analysis/apart/other-load", one=notes[0], another=notes[1])
    metrics = [run.plan.metric for run in (first, other)]
    if metrics[0] != metrics[1]:
        one, another = metrics
        yield Note.of("analysis/apart/other-metric", one=one, another=another)


def _content(run: ApartRun) -> Any:
    """What the load runs on which data; the workload's name where the run does not hold it."""
    if run.materials is None:
        return _workload_name(run)
    stored, variants = run.materials.workload, run.materials.variants
    # A file may have moved; what counts is its text.
    scenarios = [replace(one, file="") for one in stored.scenarios]
    return stored.schema_sql, stored.data_sql, scenarios, variants


def _workload_name(run: ApartRun) -> str:
    if run.materials is not None and run.materials.workload.name:
        return run.materials.workload.name
    return str(_in(run.spec, "workload", "use", "payments-write"))


class _Load(NamedTuple):
    """What decides whether two runs have the same load."""

    steps: tuple[tuple[int, float | None, float], ...]
    """Clients, rate (transactions per second) and duration (s) of each measured step."""
    order: str
    program: Value | None
    others: tuple[tuple[str, Value], ...]
    """Keys of [load] with their values."""


def _load(run: ApartRun) -> _Load:
    steps = ((one.clients, one.rate, one.duration_s) for one in run.plan.steps if one.measured)
    program = _in(run.spec, "load", "command", None)
    others = ((name, _in(run.spec, "load", name, None)) for name in _MORE)
    return _Load(
        tuple(steps),
        run.plan.order,
        None if program is None else _value(program),
        tuple((name, _value(value)) for name, value in others if value),
    )


def _load_note(load: _Load) -> Note:
    """The measured steps, such as `8 clients for 60 s`, the program that makes them, and more."""
    steps = tuple(
        Note.of("analysis/apart/clients", clients=clients, duration_s=duration_s)
        if rate is None
        else Note.of(
            "analysis/apart/clients-at-rate", clients=clients, rate=rate, duration_s=duration_s
        )
        for clients, rate, duration_s in load.steps
    )
    found = steps[0] if len(steps) == 1 else Note.of("analysis/apart/steps", steps=steps)
    if load.program is not None:
        program = _redacted(load.program)
        found = Note.of("analysis/apart/made-by", load=found, program=program)
    order = () if load.order == "ordered" else (("order", load.order),)
    if more := tuple(
        Note.of("analysis/apart/key", key=key, value=value) for key, value in (*order, *load.others)
    ):
        found = Note.of("analysis/apart/load-and-more", load=found, more=more)
    return found


def _redacted(value: Value) -> Value:
    """The same without what looks like a password, which may stand in two parts of a command."""
    if isinstance(value, tuple):
        return redacted(", ".join(map(str, value)))
    return redacted(value) if isinstance(value, str) else value


def condition_differences(sides: Sequence[Side]) -> tuple[ConditionDifference, ...]:
    """Lists what is known and not the same in all runs: server, settings, host, data, run."""
    found = list[ConditionDifference]()
    for group, facts in _GROUPS.items():
        by_side = [[facts(run) for run in side.runs] for side in sides]
        names = dict.fromkeys(name for side in by_side for run in side for name in run)
        if facts is _settings:
            names, lacking = _of_all(names, by_side)
            found += _lacking(group, lacking, by_side)
        if len({run.get("version") for side in by_side for run in side}) > 1:
            names.pop("build", None)  # it has the version in it
        for name in names:
            values = tuple(tuple(run.get(name) for run in side) for side in by_side)
            if len({value for side in values for value in side}) > 1 and not (
                facts is _sizes and _are_alike(values)
            ):
                is_warmup = facts is _run and name == _WARMUP
                unit: Unit = "bytes" if facts is _sizes else "s" if is_warmup else None
                found.append(ConditionDifference(group, name, values, unit))
    return tuple(found)


def _of_all(
    names: Mapping[Name, None], by_side: Sequence[Sequence[Facts]]
) -> tuple[dict[Name, None], list[Name]]:
    """The settings that all servers have, and those that only some have, as of other versions."""
    runs = [run for side in by_side for run in side if run]
    shared = {name: None for name in names if all(name in run for run in runs)}
    return shared, [name for name in names if name not in shared]


def _lacking(
    group: Term, names: Sequence[Name], by_side: Sequence[Sequence[Facts]]
) -> Iterator[ConditionDifference]:
    """One row for all settings that only some servers have."""
    if names:
        counts = [sum(any(n in run for run in side) for n in names) for side in by_side]
        of = len(names)
        values = tuple((Note.of("analysis/apart/part", number=n, of=of),) for n in counts)
        yield ConditionDifference(group, Note("analysis/apart/settings-of-some"), values)


def _server(run: ApartRun) -> Facts:
    environment = run.environment
    if environment.servers:
        return {
            Note.of("analysis/apart/version-of", server=name): one.version
            for name, one in environment.servers.items()
        }
    server, kind = environment.server, environment.target or None
    known = [(Term("version"), server.version), (Term("build"), server.build)]
    return {**{name: text for name, text in known if text}, Term("kind"): kind}


def _settings(run: ApartRun) -> Facts:
    """As the server had them before the arms' levels; without those that name a place."""
    server = run.environment.server
    every = {name: one.value for name, one in server.every_setting.items()}
    found = {name: _setting(one) for name, one in (every or server.settings).items()}
    held = _mapping(run.spec, "settings", "postgres")
    found |= {name: _setting(value) for name, value in held.items() if name not in found}
    return {n: v for n, v in found.items() if not _is_ignored("settings", n)}


def _setting(given: Any) -> Value | None:
    value = _known(given)
    return setting_text(value) if isinstance(value, str) else value


def _host(run: ApartRun) -> Facts:
    flat = _flat(run.environment.host.given)
    found: dict[Name, Value | None] = {n: v for n, v in flat if not _is_ignored("host", n)}
    for name, value in _mapping(run.spec, "settings", "host").items():
        found[Note.of("analysis/apart/held", name=name)] = _value(value)
    return found


def _run(run: ApartRun) -> Facts:
    warmup_s = sum(step.duration_s for step in run.plan.steps if not step.measured)
    at = run.environment
    found: dict[Name, Value | None] = {"pgassay": at.pgassay or None, _WARMUP: warmup_s}
    load = _mapping(run.spec, "load")
    found |= {f"load.{n}": _value(load[n]) for n in load if n not in (*_IN_STEPS, *_MORE)}
    found |= {f"reset, {name}": value for name, value in _flat(at.reset) if name != "seconds"}
    return found | {f"placement, {name}": value for name, value in _flat(at.placement)}


_WARMUP = Term("warm-up")
_IN_STEPS = ("clients", "step", "stages", "order", "rate", "warmup", "command")
"""Keys of [load] that the plan's steps hold, and a program."""
_MORE = ("arrivals", "think_time")
"""Others that decide what the load is; the rest are listed where they differ."""


def _sizes(run: ApartRun) -> Facts:
    """Bytes of each database."""
    sizes = {data: one.total_bytes for data, one in run.environment.sizes.items()}
    return {data: size for data, size in sizes.items() if size is not None}


def _are_alike(by_side: Sequence[Sequence[Value | None]]) -> bool:
    sizes = [size for side in by_side for size in side]
    known = [size for size in sizes if isinstance(size, int | float)]
    return len(known) == len(sizes) and max(known) <= min(known) * (1 + _LIMITS["same"]["size"])


_GROUPS: Mapping[Term, Callable[[ApartRun], Facts]] = {
    Term("Server"): _server,
    Term("Settings"): _settings,
    Term("Host"): _host,
    Term("Data"): _sizes,
    Term("Run"): _run,
}


def _is_ignored(group: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _LIMITS["ignored"][group])


def _flat(value: Any, before: str = "") -> Iterator[tuple[str, Value | None]]:
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        name = f"{before}{key}"
        if str(key).endswith(CODED):
            continue  # the note of the sentence beside it, which older versions do not store
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{name}, ")
        else:
            yield name, _known(inner)


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _mapping(value: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    found: Any = value
    for key in keys:
        found = _of(found, key)
    return found if isinstance(found, Mapping) else {}


def _in(spec: Mapping[str, Any], table: str, key: str, usual: Any) -> Any:
    return _mapping(spec, table).get(key, usual)


def _known(given: Any) -> Value | None:
    return None if given is None else _value(given)


def _value(given: Any) -> Value:
    """A value of a file as one of a note; what is neither text nor number, nor some, as text."""
    if isinstance(given, list | tuple):
        return tuple(one if isinstance(one, str | int | float) else str(one) for one in given)
    return given if isinstance(given, str | int | float) else str(given)
