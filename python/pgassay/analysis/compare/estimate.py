"""One contrast over blocks: its mean, interval and p, and whether they decide.

Enters: one number per complete block, the margin, the rule. Leaves: a `BlockEstimate`.
Never: knows what the number means; main effects, interactions and trends are treated alike.

Sources: Student's t and the exact sign-flip test (Fisher) over blocks; two one-sided
tests (Lakens 2017). See docs/methods/verdicts.md,
"Comparison of two levels".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.alternating.rounds import Spread, spread_of_rounds
from pgassay.analysis.compare.model import FEW_BLOCKS, IntervalKind
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.intervals import is_rounding, never_varies
from pgassay.analysis.statistics.multiple_testing import sign_flip_p
from pgassay.analysis.statistics.values import USELESS_PCT, Interval, ratio_pct


@dataclass(frozen=True)
class BlockEstimate:
    """A contrast on the scale of comparison: logarithms where ratios are compared."""

    blocks: int
    mean: float
    error: float | None
    """The standard error of the mean."""
    units: float
    """How many independent values it is worth: degrees of freedom plus one."""
    interval: Interval | None
    p_t: float | None
    p_sign_flip: float | None
    """Of a fixed number of blocks."""
    p_looks: float | None
    """An upper bound of the p that holds at all looks up to a last one."""
    differs: bool
    """The 95 % interval excludes zero, over enough blocks."""
    inside: bool
    """The 90 % interval lies inside the margins, over enough blocks."""
    blocks_to_decide: int | None
    rounds: int | None = None
    """Of a switchback: the number of rounds."""
    slow: Interval | None = None
    """Of a switchback that is inside, or would be: the effects that its rounds allow if they take
    seconds to build up."""
    withheld: bool = False
    """It would be inside, if not for `slow`."""
    resolution: float = 0.0
    """By how much the mean may be off because of what the values are counted in; the intervals are
    wider by it on either side."""
    by_duration: Mean | None = None
    """Of coarse counts: the same by mean durations; the interval covers both."""


@dataclass(frozen=True)
class Mean:
    """A mean over blocks and its standard error, on the scale of comparison."""

    value: float
    error: float | None


def estimate(
    differences: NDArray[np.float64],
    margins: Interval,
    rule: Rule,
    trials: NDArray[np.int64] | None = None,
    *,
    units: float | None = None,
    judged: bool = True,
    resolution: float = 0.0,
) -> BlockEstimate:
    """Estimates the mean over blocks, or over the rounds of `trials`.

    `units` is how many independent values the blocks' differences are worth, if not their number;
    only what is `judged` by the rule gets a p over its looks. `resolution` is by how much the mean
    may be off because of what the values are counted in, on either side.
    """
    differences = _without_rounding(differences)
    if trials is None:
        spread = _of_blocks(differences, units or len(differences))
    else:
        spread = spread_of_rounds(differences, trials)
    mean, error, units = spread.mean, spread.error, spread.units
    n = len(differences) if trials is None else len(np.unique(trials))
    decides = trials is not None or n >= FEW_BLOCKS
    interval = _interval(mean, error, rule.critical(n, units, 0.05), resolution)
    # TOST at 5 %: the two one-sided tests reject where the 90 % interval lies inside the margins.
    ninety = _interval(mean, error, rule.critical_inside(n, units), resolution)
    inside = decides and ninety is not None and lies_inside(ninety, margins)
    differs = decides and interval is not None and (interval[0] > 0.0 or interval[1] < 0.0)
    return BlockEstimate(
        blocks=n,
        mean=mean,
        error=error,
        units=units,
        interval=interval,
        p_t=None if error is None else float(2 * special.stdtr(units - 1, -abs(mean) / error)),
        # Over the number of blocks fixed beforehand; a run that may end earlier has none.
        p_sign_flip=sign_flip_p(differences) if rule.interval is IntervalKind.T else None,
        p_looks=_p_of_looks(spread, n, rule) if judged else None,
        differs=differs,
        inside=inside,
        blocks_to_decide=0 if differs or inside else _blocks_to_decide(spread, margins, n, rule),
        rounds=None if trials is None else len(differences),
        resolution=resolution,
    )


def lies_inside(interval: Interval, margins: Interval) -> bool:
    """Returns whether an interval lies between two margins and touches neither."""
    return margins[0] < interval[0] and interval[1] < margins[1]


def _of_blocks(differences: NDArray[np.float64], units: float) -> Spread:
    """Mean and standard error of independent blocks."""
    return Spread(float(differences.mean()), _standard_error(differences), float(units))


def _p_of_looks(spread: Spread, blocks: int, rule: Rule) -> float | None:
    if rule.interval is IntervalKind.T or spread.error is None:
        return None
    return rule.bounding_p(spread.mean / spread.error, blocks, spread.units)


def relative(ratio: bool, baseline_mean: float) -> Callable[[float], float | None]:
    """Returns the function from a difference on the scale of comparison to per cent of the
    baseline."""
    if ratio:
        return ratio_pct
    if baseline_mean == 0.0:
        return lambda _: None
    return lambda difference: 100.0 * difference / abs(baseline_mean)


def bounded(interval: Interval | None, *, least: float) -> Interval | None:
    """Cuts an interval in per cent at `least`; None where it is too wide to be of use. One above
    zero says something however high it reaches."""
    if interval is None or (interval[1] > USELESS_PCT and interval[0] <= 0.0):
        return None
    return max(interval[0], least), max(interval[1], least)


def both(interval: Interval | None, convert: Callable[[float], float | None]) -> Interval | None:
    """Converts both ends of an interval; None if one cannot be."""
    if interval is None:
        return None
    low, high = convert(interval[0]), convert(interval[1])
    return None if low is None or high is None else (low, high)


def _without_rounding(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same, but all equal where they differ by rounding, and zero where that is rounding too.

    Values that never vary would else have an interval of the width of rounding errors.
    """
    if not never_varies(differences):
        return differences
    mean = float(differences.mean())
    return np.full_like(differences, 0.0 if is_rounding(mean) else mean)


def _standard_error(differences: NDArray[np.float64]) -> float | None:
    """None with a single block, or differences that do not vary."""
    n = len(differences)
    if n < 2 or not np.ptp(differences):
        return None
    return float(differences.std(ddof=1)) / math.sqrt(n)


def _interval(
    mean: float, error: float | None, critical: float, resolution: float
) -> Interval | None:
    """None where neither scatter nor resolution is known."""
    if not math.isfinite(critical) or (error is None and not resolution):
        return None
    reach = critical * (error or 0.0) + resolution
    return mean - reach, mean + reach


def _blocks_to_decide(found: Spread, margins: Interval, n: int, rule: Rule) -> int | None:
    """Further blocks after which a verdict is reached, if mean and spread stay as they are."""
    if found.error is None or n < FEW_BLOCKS:
        return None
    mean, spread, per_block = found.mean, found.error * math.sqrt(n), found.units / n
    room = min(margins[1] - mean, mean - margins[0])

    def decides(more: int) -> bool:
        width = spread / math.sqrt(n + more)
        units = per_block * (n + more)
        if rule.critical(n + more, units, 0.05) * width < abs(mean):
            return True
        return rule.critical_inside(n + more, units) * width < room

    # Intervals narrow with more blocks, so bisection finds the first number that decides.
    stops = rule.stops_after(n)
    at = bisect_left(stops, True, key=lambda block: decides(block - n))
    return stops[at] - n if at < len(stops) else None
