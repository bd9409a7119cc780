"""Classic trends of each arm, each beside the change over a trial with its interval.

Enters: the trials of an arm. Leaves: a `ClassicTrend` for each series. Never: calls a trend of one
trial the arm's, where there are several.

Classic: both axes as z-scores, least squares; so the slope is Pearson's r, and the angle at most
45 degrees. Tested: the change from a trial's beginning to its end, with Student's t over trials; of
a single trial the robust trend that allows for autocorrelation (statistics/trend.py). Where the
load has several steps, it is the change within them. It is there to test what the classic view
claims, and claims nothing itself: it is not corrected for the number of series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.classic.correlations import mean_of, pearson
from pgassay.analysis.classic.model import LIMITS, Agreement, ClassicTrend, label
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.courses.figures import WAITINGS, Figures, figures
from pgassay.analysis.statistics.intervals import mean_with_interval
from pgassay.analysis.statistics.trend import drift

Array = NDArray[np.float64]
Interval = tuple[float, float]
Steps = tuple[tuple[int, int], ...]
_RULES = LIMITS["trend"]


def trends(
    trials: Sequence[Figures],
    series: Sequence[EvenSeries],
    disks: Sequence[str],
    *,
    has_load: bool = True,
) -> tuple[ClassicTrend, ...]:
    """Fits the trends of one arm: `trials` over the longer intervals, `series` second by second.

    `has_load` unless the steps of `series` are parts of an observation.
    """
    seconds = [(figures(one), one.steps if has_load else ()) for one in series]
    names = [
        name.replace("*", disk, 1)
        for name in _RULES["series"]
        for disk in (disks if name.startswith("*/") else ("",))
    ]
    return tuple(_trend(name, trials, seconds) for name in names)


def incident(found: Sequence[ClassicTrend]) -> bool | None:
    """Whether speed falls while waits rise; None where one of the two is not known."""
    by_name = {one.series: one for one in found}
    speed, waits = by_name["speed"], by_name[WAITINGS]
    if speed.angle_deg is None or waits.angle_deg is None:
        return None
    weakest = min(speed.r2 or 0.0, waits.r2 or 0.0)
    return speed.angle_deg < 0.0 < waits.angle_deg and weakest >= _RULES["incident_r2"]


def _trend(
    name: str, trials: Sequence[Figures], seconds: Sequence[tuple[Figures, Steps]]
) -> ClassicTrend:
    slopes = [slope for one in trials if (slope := _slope(one.get(name))) is not None]
    r2 = mean_of([slope**2 for slope in slopes])
    change, ends = _change([(one[name], steps) for one, steps in seconds if name in one])
    return ClassicTrend(
        series=name,
        r2=r2,
        label=label(r2, _RULES["labels"]),
        claims=r2 is not None and r2 >= _RULES["claims_from_r2"],
        angle_deg=mean_of([math.degrees(math.atan(slope)) for slope in slopes]),
        change_pct=change,
        ci95_pct=ends,
        agreement=_agreement(mean_of(slopes), r2, ends),
    )


def _slope(values: Array | None) -> float | None:
    return None if values is None else pearson(np.arange(len(values), dtype=np.float64), values)


def _change(rows: Sequence[tuple[Array, Steps]]) -> tuple[float | None, Interval | None]:
    """The change over a trial in per cent of the trials' mean, and its interval."""
    known = [(row, steps) for row, steps in rows if np.count_nonzero(np.isfinite(row)) > 2]
    level = abs(float(np.mean([np.nanmean(row) for row, _ in known]))) / 100.0 if known else 0.0
    if not level:
        return None, None
    if len(known) == 1 and len(known[0][1]) < 2:
        row, _ = known[0]
        found = drift(row[np.isfinite(row)])
        if found is None:
            return None, None
        return found.total / level, (found.low / level, found.high / level)
    over = mean_with_interval(np.array([_least_squares(*one) / level for one in known]))
    if over.low is None or over.high is None:
        return over.value, None
    return over.value, (over.low, over.high)


def _least_squares(row: Array, steps: Steps) -> float:
    """The change of a line from the first to the last value; of several steps, one slope within
    all of them."""
    squares = products = 0.0
    for first, last in steps if len(steps) > 1 else ((0, len(row)),):
        at = np.flatnonzero(np.isfinite(row[first:last])).astype(np.float64)
        if len(at):
            values = row[first:last][at.astype(np.int64)]
            at -= at.mean()
            squares += float(at @ at)
            products += float(at @ values)
    return products / squares * len(row) if squares else 0.0


def _agreement(slope: float | None, r2: float | None, ends: Interval | None) -> Agreement | None:
    if slope is None or r2 is None or r2 < _RULES["claims_from_r2"]:
        return None
    if ends is None:
        return Agreement.TOO_LITTLE
    if ends[0] <= 0.0 <= ends[1]:
        return Agreement.UNCLEAR
    return Agreement.AGREE if (ends[0] > 0.0) == (slope > 0.0) else Agreement.OPPOSITE
