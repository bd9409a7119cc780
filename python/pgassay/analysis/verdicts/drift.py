"""What differed between trials of the same arm, and between the servers of a fleet.

Enters: the stored trials that count; effects by server, environment.json. Leaves: a caveat for each
setting, version or size that differs, and for each effect that depends on the server.
Never: changes an estimate, or takes such a difference for one between arms.

The guards (trials/guards/) watch for changes during a trial; this module compares trials.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pgassay.analysis.compare.model import ByServer, Dependence
from pgassay.analysis.measures.model import Caveat
from pgassay.analysis.reading.metrics import METRICS
from pgassay.notes import Note, Term, Value
from pgassay.plan.steps import load_of
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.trial import Look, TrialFile
from pgassay.samples.stored_parts import StoredTrial

_MOST_CAVEATS = 5
_LARGEST_GROWTH = 0.05
"""Share by which a database may be larger in one trial than in another."""
_PATHS = re.compile(r"(_directory|_directories|_file)$")
"""Settings that are paths: an owned server lies elsewhere when a run is resumed."""


def drift_caveats(trials: Sequence[StoredTrial]) -> list[Caveat]:
    """Makes one caveat per setting, kernel setting or version; a long list is cut."""
    first: dict[str, tuple[int, Mapping[str, str]]] = {}
    found: dict[str, Note] = {}
    summaries = [trial.summary() for trial in trials]
    for summary in summaries:
        constants = _constants(summary.fingerprint.before)
        number, known = first.setdefault(summary.arm, (summary.number, constants))
        for name in sorted(known.keys() & constants.keys()):
            if known[name] != constants[name]:
                values: dict[str, Value] = {
                    "name": name,
                    "before": known[name],
                    "number": number,
                    "after": constants[name],
                    "other": summary.number,
                }
                found.setdefault(name, Note("analysis/verdicts/drift", values))
    notes = list(found.values())[:_MOST_CAVEATS]
    if len(found) > _MOST_CAVEATS:
        more = len(found) - _MOST_CAVEATS
        notes.append(Note("analysis/verdicts/more-drift", {"number": more}))
    return [Caveat.of("drift", note) for note in (*notes, *_growth(summaries))]


def _growth(summaries: Sequence[TrialFile]) -> list[Note]:
    """The arm whose trials began with databases of the most different sizes."""
    sizes: dict[str, list[tuple[int, int]]] = {}
    for summary in summaries:
        before = summary.fingerprint.before
        if before is not None and before.database_bytes:
            sizes.setdefault(summary.arm, []).append((before.database_bytes, summary.number))
    spans = [(max(own)[0] / min(own)[0], min(own), max(own)) for own in sizes.values()]
    if not spans:
        return []
    ratio, (small, early), (large, late) = max(spans)
    if ratio <= 1.0 + _LARGEST_GROWTH:
        return []
    values: dict[str, Value] = {
        "small": small / 2**20,
        "early": early,
        "large": large / 2**20,
        "late": late,
    }
    return [Note("analysis/verdicts/growth", values)]


def _constants(before: Look | None) -> dict[str, str]:
    if before is None:
        return {}
    return {
        Term("the server's version"): before.version,
        **{name: v for name, v in before.settings.items() if not _PATHS.search(name)},
        **({} if before.host is None else before.host.knobs),
    }


_MOST_SETTINGS = 5


def server_caveats(found: Sequence[ByServer]) -> Iterator[Caveat]:
    """Makes one caveat for each verdict whose effect depends on the server."""
    for one in found:
        if one.verdict is not Dependence.DEPENDS or one.test is None:
            continue
        effects = tuple(
            Note("analysis/verdicts/effect-on", {"effect": e.effect_pct, "server": e.server})
            for e in one.servers
            if e.effect_pct is not None
        )
        values: dict[str, Value] = {
            "metric": Term(METRICS[one.metric].title),
            "factor": one.factor,
            "level": one.level if one.step is None else _at_load(one, one.step),
            "effects": effects,
            "p": one.test.p,
        }
        yield Caveat.of("servers", Note("analysis/verdicts/servers", values))


def _at_load(one: ByServer, step: float) -> Note:
    load = load_of(step, one.step_unit)
    return Note.of("analysis/verdicts/level-at-load", level=one.level, load=load)


def unlike_server_caveats(environment: EnvironmentFile) -> Iterator[Caveat]:
    """Makes a caveat of settings, not set by the experiment, in which a fleet's servers differ."""
    differing = environment.settings_that_differ
    if not environment.fleet or not differing:
        return
    named = [
        Note("analysis/verdicts/setting-by-server", {"name": name, "values": _on_servers(values)})
        for name, values in list(differing.items())[:_MOST_SETTINGS]
    ]
    if more := len(differing) - len(named):
        named.append(Note("analysis/verdicts/and-more", {"number": more}))
    found: dict[str, Value] = {"n": len(differing), "items": tuple(named)}
    yield Caveat.of("unlike-servers", Note("analysis/verdicts/unlike-servers", found))


def _on_servers(values: Mapping[str, Any]) -> tuple[Note, ...]:
    return tuple(
        Note("analysis/verdicts/value-on", {"value": str(value), "server": server})
        for server, value in values.items()
    )
