"""Two periods of observations → what differs by more than usual.

Enters: two periods with their slices, the slices of everything that was recorded. Leaves: a
`PeriodsAnalysis`. Never: says what a change is due to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pgassay.analysis.measures.model import SignalKey
from pgassay.analysis.observation.periods.figures import LIMITS, Means, figures_of
from pgassay.analysis.observation.periods.model import (
    Course,
    Difference,
    Figure,
    PeriodFacts,
    PeriodsAnalysis,
    SettingChange,
    Source,
)
from pgassay.analysis.observation.periods.sums import FigureSums, RunningSums
from pgassay.analysis.observation.periods.usual import Held, by_pairs, within
from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats, Times
from pgassay.analysis.reading.own_statements import own_among
from pgassay.refusals.refusal import DirectoryRefused

_DAY_NS = 86_400 * 10**9
_MOST_STEPS = 3000
_DRAWN = ("tps", "speed", "sessions")
_MOST_POINTS = 120
_HALF = 0.5
"""Share of a period of another pair that must have been read."""


@dataclass(frozen=True)
class Period:
    """A stretch of one observation."""

    label: str
    start_ns: int
    end_ns: int
    slices: Slices
    """Of everything that its directory has, not of the period alone."""


@dataclass(frozen=True)
class _Pairs:
    """Other pairs of periods as places in the slices: two begins and two ends."""

    source: Source
    first: tuple[Times, Times]
    second: tuple[Times, Times]

    def __len__(self) -> int:
        return len(self.first[0])


def compare_periods(
    first: Period,
    second: Period,
    texts: Mapping[str, str] | None = None,
    settings: Sequence[SettingChange] = (),
) -> PeriodsAnalysis:
    """Compares two periods, which may be of the same observation; `texts` are those of statements
    by query id.

    Raises DirectoryRefused where too little of one was read.
    """
    sides = (first, second)
    sums = [RunningSums(one.slices) for one in sides]
    places = [
        one.places(np.array([side.start_ns, side.end_ns]))
        for side, one in zip(sides, sums, strict=True)
    ]
    facts = [_facts(side, one, at) for side, one, at in zip(sides, sums, places, strict=True)]
    pairs = _pairs(first, second, sums)
    found = []
    for figure in figures_of(_means(sides, places), own_among(texts or {})):
        own = (sums[0].of(figure), sums[1].of(figure))
        if (difference := _difference(figure, own, places, pairs)) is not None:
            found.append(difference)
    judged = _judged(found)
    known = [one.usual.pairs for one in found if one.usual is not None]
    by_pairs_mostly = sum(number > 0 for number in known) * 2 > len(known)
    return PeriodsAnalysis(
        periods=(facts[0], facts[1]),
        differences=judged,
        source=pairs.source if by_pairs_mostly else "within",
        pairs=max(known, default=0) if by_pairs_mostly else 0,
        settings=tuple(settings),
        courses=tuple(_course(one, sides, sums, places) for one in _drawn(judged)),
        texts=dict(texts or {}),
    )


def _facts(period: Period, sums: RunningSums, places: Times) -> PeriodFacts:
    widths = period.slices.width_s[places[0] : places[1]]
    read = float(sums.read_s(places[:1], places[1:])[0])
    facts = PeriodFacts(
        period.label,
        period.start_ns,
        period.end_ns,
        read,
        float(widths.max()) if len(widths) else 0.0,
    )
    if read <= 0.0:
        raise DirectoryRefused("period-not-recorded", period.label)
    if len(widths) < LIMITS["fewest_stretches"]:
        raise DirectoryRefused(
            "period-too-short",
            period.label,
            slices=len(widths),
            least=int(LIMITS["fewest_stretches"]),
        )
    return facts


def _means(sides: Sequence[Period], places: Sequence[Times]) -> Means:
    """The larger of the means of both periods, by signal."""
    means: dict[SignalKey, float] = {}
    for side, at in zip(sides, places, strict=True):
        inside = slice(int(at[0]), int(at[1]))
        seconds = side.slices.seconds[inside]
        total = max(float(seconds.sum()), 1e-9)
        for key, values in side.slices.values.items():
            own = values[inside]
            known = np.isfinite(own)
            if known.any():
                mean = float((own[known] * seconds[known]).sum()) / total
                means[key] = max(means.get(key, 0.0), mean)
    return means


def _difference(
    figure: Figure, own: tuple[FigureSums, FigureSums], places: Sequence[Times], pairs: _Pairs
) -> Difference | None:
    values = [float(one.means(at[:1], at[1:])[0]) for one, at in zip(own, places, strict=True)]
    if not np.all(np.isfinite(values)):
        return None
    change = float(_changes(np.array(values[:1]), np.array(values[1:]), figure.floor)[0])
    held = _by_pairs(change, figure, own, pairs)
    if held is None:
        first_course, second_course = _stretches(own, places)
        held = within(change, first_course, second_course, figure.floor)
    first, second = values
    if held is None:
        return Difference(figure, first, second, None, None, None, is_unusual=False)
    return Difference(figure, first, second, held.usual, held.times, held.p, is_unusual=False)


def _changes(first: Floats, second: Floats, floor: float) -> Floats:
    """Logarithms of ratios that begin at the floor."""
    found: Floats = np.log((second + floor) / (first + floor))
    return found


def _by_pairs(
    change: float, figure: Figure, own: tuple[FigureSums, FigureSums], pairs: _Pairs
) -> Held | None:
    if len(pairs) < LIMITS["pairs"]:
        return None
    first, second = own[0].means(*pairs.first), own[1].means(*pairs.second)
    return by_pairs(change, _changes(first, second, figure.floor))


def _stretches(own: tuple[FigureSums, FigureSums], places: Sequence[Times]) -> list[Floats]:
    """Means of stretches of equal numbers of slices of each period."""
    found = []
    for one, (begin, end) in zip(own, (at.tolist() for at in places), strict=True):
        fewest, most = int(LIMITS["fewest_stretches"]), int(LIMITS["most_stretches"])
        number = max(fewest, min(most, (end - begin) // 2))
        edges = np.linspace(begin, end, number + 1).round().astype(np.int64)
        found.append(one.means(edges[:-1], edges[1:]))
    return found


def _pairs(first: Period, second: Period, sums: Sequence[RunningSums]) -> _Pairs:
    """Pairs of periods that lie as far apart as these two, the most like them: at the same hours of
    the same weekday, else of any day, else at other hours."""
    length = max(first.end_ns - first.start_ns, second.end_ns - second.start_ns)
    found = _shifted(first, second, sums, 7 * _DAY_NS, "days")
    if len(found) < LIMITS["pairs"]:
        found = _shifted(first, second, sums, _DAY_NS, "days")
    if len(found) < LIMITS["pairs"]:
        found = _shifted(first, second, sums, length, "hours")
    return found


def _shifted(
    first: Period, second: Period, sums: Sequence[RunningSums], step_ns: int, source: Source
) -> _Pairs:
    """Both periods moved by the same multiples of a step, the nearest first, where both were read
    and neither overlaps with one of the compared ones."""
    sides, most = (first, second), int(LIMITS["most_pairs"])
    farthest = max(abs(edge - one.start_ns) for one in sides for edge in _span(one.slices))
    number = min(farthest // step_ns + 1, _MOST_STEPS)
    moved = np.array([sign * at * step_ns for at in range(1, number + 1) for sign in (-1, 1)])
    kept = np.ones(len(moved), bool)
    edges = []
    for side, one in zip(sides, sums, strict=True):
        begins, ends = side.start_ns + moved, side.end_ns + moved
        for other in sides:
            kept &= (ends <= other.start_ns) | (begins >= other.end_ns)
        places = one.places(begins), one.places(ends)
        kept &= one.read_s(*places) >= _HALF * (side.end_ns - side.start_ns) / 1e9
        edges.append(places)
    at = np.flatnonzero(kept)[:most]
    (a, b), (c, d) = edges
    return _Pairs(source, (a[at], b[at]), (c[at], d[at]))


def _span(slices: Slices) -> tuple[int, int]:
    starts = slices.starts_ns
    return (int(starts[0]), int(starts[-1])) if len(starts) else (0, 0)


def _drawn(judged: Sequence[Difference]) -> list[Figure]:
    """The figures whose course is kept: some always, and what changed most."""
    unusual = [one for one in judged if one.is_unusual]
    most = max(unusual, key=lambda one: abs(one.times_usual or 0.0), default=None)
    always = [one.figure for one in judged if one.figure.name in _DRAWN and not one.figure.thing]
    return always if most is None or most.figure in always else [*always, most.figure]


def _course(
    figure: Figure, sides: Sequence[Period], sums: Sequence[RunningSums], places: Sequence[Times]
) -> Course:
    seconds, values = [], []
    for side, one, at in zip(sides, sums, places, strict=True):
        begin, end = at.tolist()
        edges = np.unique(np.linspace(begin, end, _MOST_POINTS + 1).round().astype(np.int64))
        means = one.of(figure).means(edges[:-1], edges[1:])
        starts = side.slices.starts_ns[edges[:-1]]
        seconds.append(tuple(((starts - side.start_ns) / 1e9).tolist()))
        values.append(tuple(value if np.isfinite(value) else None for value in means.tolist()))
    return Course(figure, (seconds[0], seconds[1]), (values[0], values[1]))


def _judged(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Says which differ by more than usual: of these, at most one in twenty is expected to be there
    by chance (Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 1995)."""
    tested = sorted(one.p for one in found if one.p is not None)
    rate = LIMITS["false_share"]
    passed = [p for rank, p in enumerate(tested, start=1) if p <= rate * rank / len(tested)]
    limit = max(passed, default=-1.0)
    return tuple(
        replace(
            one,
            is_unusual=one.p is not None and one.p <= limit and abs(one.times_usual or 0.0) > 1.0,
        )
        for one in found
    )
