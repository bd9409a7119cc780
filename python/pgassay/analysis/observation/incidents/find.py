"""Slices of an observation → its incidents.

Enters: slices. Leaves: `Incidents`. Never: names a cause, or finds what is shorter than two slices.

An incident is a stretch in which transactions a second and busy session fall while more sessions
are busy, or in which a sign holds that stands alone; what overlaps is one. Stretches of the speed
are pieces of equal mean by PELT (`statistics/change_points.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from pgassay.analysis.observation.incidents.model import (
    BusyStatement,
    Course,
    Incident,
    Incidents,
    Sign,
)
from pgassay.analysis.observation.incidents.signs import (
    KINDS,
    LIMITS,
    SPEED,
    stretches_in,
)
from pgassay.analysis.observation.incidents.stretches import SHORTEST, Stretch, bridged
from pgassay.analysis.observation.incidents.trees import blocked_in
from pgassay.analysis.observation.incidents.usual import Clock, Usual, runs_of, spread
from pgassay.analysis.observation.slice_metrics import METRIC, TPS
from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats
from pgassay.analysis.statistics.change_points import best_pieces, long_run_variance

_SMALL_TPS, _SMALL_SESSIONS = 0.1, 0.1
_LEAST_SPREAD = 0.05
_FAR = 4.0
_CLIPPED = 8.0
"""Standard deviations: beyond, a slice counts no more."""
_PENALTY = 3.0
_FEWEST_SLICES = 12
_TOGETHER = 2
"""Slices within which signs begin together."""
_APART = 1
"""Slices between two incidents, at least."""
_STATEMENTS = 5
_MOST_POINTS = 1500
Span = tuple[int, int]


class _Load:
    """Throughput and busy sessions of each slice, with what is usual."""

    def __init__(self, slices: Slices, clock: Clock) -> None:
        count = len(slices)
        nothing = np.full(count, np.nan)
        classes = [row for key, row in slices.values.items() if key[0] == "class"]
        self.sessions = np.sum(np.nan_to_num(classes), axis=0) if classes else np.zeros(count)
        self.tps = _held(slices.values.get((METRIC, "", TPS), nothing))
        self.usual_sessions = clock.usual(self.sessions)
        self.usual_tps = clock.usual(self.tps)
        speed = np.log((self.tps + _SMALL_TPS) / (self.sessions + _SMALL_SESSIONS))
        self.fall = speed - clock.usual(speed).low
        """The logarithm of the speed over its usual one; less than 0 where it is slower."""

    def course(self, slices: Slices) -> Course:
        """Both over time, averaged to a number of points that can be drawn."""
        count = -(-len(slices) // _MOST_POINTS)
        first = np.arange(0, len(slices), count)
        sizes = np.diff(first, append=len(slices))
        tps, sessions = (
            tuple((np.add.reduceat(row, first) / sizes).tolist())
            for row in (self.tps, self.sessions)
        )
        return Course(tuple(slices.starts_ns[first].tolist()), tps, sessions)


def find_incidents(slices: Slices) -> Incidents:
    """The incidents in slices of at least two minutes; in fewer nothing is usual."""
    slices = slices.between(0, 2**62)
    width_s = float(np.median(slices.width_s)) if len(slices) else 0.0
    start, end = (int(slices.starts_ns[0]), int(slices.ends_ns[-1])) if len(slices) else (0, 0)
    found: tuple[Incident, ...] = ()
    days, course = 0, Course((), (), ())
    if len(slices) >= _FEWEST_SLICES:
        clock = Clock(slices)
        days = clock.days
        load = _Load(slices, clock)
        course = load.course(slices)
        stretches = stretches_in(slices, clock, load.usual_sessions.high)
        alone = [
            (one.first, one.last)
            for kind in KINDS
            if LIMITS[kind]["alone"]
            for one in stretches[kind]
            if _costs(one, load)
        ]
        spans = _united([*_slower(load), *alone])
        found = tuple(_incident(span, slices, load, stretches, clock) for span in spans)
    return Incidents(start, end, float(np.sum(slices.seconds)), width_s, days, course, found)


def _costs(one: Stretch, load: _Load) -> bool:
    """Whether a sign that is an incident only beside busier sessions had them."""
    least: float = LIMITS[one.kind].get("more_sessions", 0.0)
    part = slice(one.first, one.last)
    usual = float(load.usual_sessions.high[part].mean())
    return float(load.sessions[part].mean()) >= least * usual


def _held(row: Floats) -> Floats:
    """What was not read is as it was last."""
    known = np.flatnonzero(~np.isnan(row))
    if not len(known):
        return np.zeros(len(row))
    at = np.searchsorted(known, np.arange(len(row)), side="right") - 1
    held: Floats = row[known[np.maximum(at, 0)]]
    return held


def _slower(load: _Load) -> list[Span]:
    """Where fewer transactions are done by more sessions."""
    limits = LIMITS[SPEED]
    sd = max(_LEAST_SPREAD, spread(load.fall))
    series = np.clip(load.fall / sd, -_CLIPPED, _CLIPPED)
    penalty = _PENALTY * np.log(len(series)) * max(1.0, long_run_variance(series))
    ends = best_pieces((series - series.mean())[:, None], penalty, SHORTEST)
    least_fall = max(np.log(limits["times"]), _FAR * sd)
    pieces = [*zip([0, *ends[:-1]], ends, strict=True)]
    # In a short record a piece of a few slices is never worth the penalty.
    sudden = runs_of(bridged(load.fall <= -max(np.log(limits["sudden_times"]), least_fall)))
    found = []
    for first, last in (*pieces, *sudden.tolist()):
        fall = float(load.fall[first:last].mean())
        usual = float(load.usual_sessions.high[first:last].mean())
        more = float(load.sessions[first:last].mean()) - usual
        least = max(limits["more_sessions"], limits["share_of_sessions"] * usual)
        if last - first >= SHORTEST and fall <= -least_fall and more >= least:
            found.append((int(first), int(last)))
    return found


def _united(spans: Sequence[Span]) -> list[Span]:
    """Overlapping spans, and those with hardly a slice between them, as one."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + _APART:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def _incident(
    span: Span,
    slices: Slices,
    load: _Load,
    stretches: Mapping[str, Sequence[Stretch]],
    clock: Clock,
) -> Incident:
    first, last = span
    part = slice(first, last)
    seconds = slices.seconds[part]

    def mean(row: Floats) -> float:
        return float(np.average(row[part], weights=np.maximum(seconds, 1e-9)))

    fewer = (_middle(load.usual_tps) - load.tps)[part] * slices.width_s[part]
    more = (load.sessions - _middle(load.usual_sessions))[part] * slices.width_s[part]
    return Incident(
        start_ns=int(slices.starts_ns[first]),
        end_ns=int(slices.ends_ns[last - 1]),
        is_open=bool(last == len(slices)),
        tps=mean(load.tps),
        usual_tps=mean(_middle(load.usual_tps)),
        sessions=mean(load.sessions),
        usual_sessions=mean(_middle(load.usual_sessions)),
        lost_transactions=max(0.0, float(fewer.sum())),
        extra_session_s=max(0.0, float(more.sum())),
        signs=tuple(_signs(span, slices, stretches)),
        statements=_statements(span, slices, clock),
        blocked=blocked_in(slices, first, last),
    )


def _middle(usual: Usual) -> Floats:
    middle: Floats = (usual.low + usual.high) / 2
    return middle


def _signs(span: Span, slices: Slices, stretches: Mapping[str, Sequence[Stretch]]) -> list[Sign]:
    """The first of each kind that overlaps, ordered by when they began. What had begun long before
    comes last: it went on while nothing was unusual."""
    first, last = span
    found: list[tuple[float, int, Stretch]] = []
    for rank, kind in enumerate(KINDS):
        own = [one for one in stretches[kind] if one.first < last and one.last > first]
        if own:
            largest = max(own, key=lambda one: (one.last - one.first, one.value))
            begun = min(one.first for one in own)
            group = 0 if abs(begun - first) <= _TOGETHER else begun if begun > first else np.inf
            found.append((group, rank, largest))
    return [
        Sign(
            one.kind,
            int(slices.starts_ns[one.first]),
            int(slices.ends_ns[one.last - 1]),
            one.value,
            one.usual,
            one.objects,
        )
        for _, _, one in sorted(found, key=lambda entry: entry[:2])
    ]


def _statements(span: Span, slices: Slices, clock: Clock) -> tuple[BusyStatement, ...]:
    """Statements with the most sessions beyond their usual ones."""
    rows: dict[str, Floats] = defaultdict(lambda: np.zeros(len(slices)))
    for key, row in slices.values.items():
        if key[0] == "query":
            rows[key[1]] += np.nan_to_num(row)
    part = slice(*span)
    means = {queryid: float(row[part].mean()) for queryid, row in rows.items()}
    largest = sorted(means, key=lambda queryid: -means[queryid])[: 2 * _STATEMENTS]
    found = [
        BusyStatement(
            queryid, means[queryid], float(_middle(clock.usual(rows[queryid]))[part].mean())
        )
        for queryid in largest
    ]
    more = [one for one in found if one.sessions - one.usual > 0.05]
    return tuple(sorted(more, key=lambda one: one.usual - one.sessions)[:_STATEMENTS])
