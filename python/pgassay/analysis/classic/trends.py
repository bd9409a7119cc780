"""Classic trends of each arm, each beside the change over a trial with its interval.

Enters: the trials of an arm. Leaves: a `ClassicTrend` for each series. Never: calls a trend of one
trial the arm's, where there are several.

Classic: both axes as z-scores, least squares; so the slope is Pearson's r, and the angle at most
45 degrees. Honest: the change from a trial's beginning to its end, with Student's t over trials; of
a single trial the robust trend that allows for autocorrelation (statistics/trend.py). It is there
to test what the classic view claims, and claims nothing itself: it is not corrected for the number
of series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.classic.correlations import mean_of, pearson
from pgassay.analysis.classic.figures import WAITINGS, Figures
from pgassay.analysis.classic.limits import LIMITS, label
from pgassay.analysis.classic.model import Agreement, ClassicTrend
from pgassay.analysis.statistics.intervals import mean_with_interval
from pgassay.analysis.statistics.trend import drift

Array = NDArray[np.float64]
Interval = tuple[float, float]
_RULES = LIMITS["trend"]


def trends(
    trials: Sequence[Figures], seconds: Sequence[Figures], disks: Sequence[str]
) -> tuple[ClassicTrend, ...]:
    """Of one arm: `trials` over the longer intervals, `seconds` the same second by second."""
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


def _trend(name: str, trials: Sequence[Figures], seconds: Sequence[Figures]) -> ClassicTrend:
    slopes = [slope for one in trials if (slope := _slope(one.get(name))) is not None]
    r2 = mean_of([slope**2 for slope in slopes])
    change, ends = _change([row for one in seconds if (row := one.get(name)) is not None])
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


def _change(rows: Sequence[Array]) -> tuple[float | None, Interval | None]:
    """The change over a trial in per cent of the trials' mean, and its interval."""
    known = [one for row in rows if len(one := row[np.isfinite(row)]) > 2]
    level = abs(float(np.mean([one.mean() for one in known]))) / 100.0 if known else 0.0
    if not level:
        return None, None
    if len(known) == 1:
        found = drift(known[0])
        if found is None:
            return None, None
        return found.total / level, (found.low / level, found.high / level)
    over = mean_with_interval(np.array([_least_squares(one) / level for one in known]))
    if over.low is None or over.high is None:
        return over.value, None
    return over.value, (over.low, over.high)


def _least_squares(row: Array) -> float:
    """The line's change from the first to the last value."""
    at = np.arange(len(row)) - (len(row) - 1) / 2.0
    return float(at @ row) / float(at @ at) * len(row)


def _agreement(slope: float | None, r2: float | None, ends: Interval | None) -> Agreement | None:
    if slope is None or r2 is None or r2 < _RULES["claims_from_r2"]:
        return None
    if ends is None:
        return Agreement.TOO_LITTLE
    if ends[0] <= 0.0 <= ends[1]:
        return Agreement.UNCLEAR
    return Agreement.AGREE if (ends[0] > 0.0) == (slope > 0.0) else Agreement.OPPOSITE
