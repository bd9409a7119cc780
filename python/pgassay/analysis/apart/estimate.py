"""One metric of one arm: a side against the baseline side, with the spread between runs.

Enters: the values of trials by side and run, the rule. Leaves: a `RunDifference`.
Never: lets a verdict rest on the spread of trials inside runs.

The difference is of the means of runs. Where repeated runs give the spread between runs, its error
is theirs (pooled over sides, Student's t), or that of trials where it is larger. Else its variance
is that of trials inside runs plus the spread that is stated or assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pgassay.analysis.apart.model import RunDifference, RunSpread, SpreadSource
from pgassay.analysis.apart.spread import Sides, Within, run_spread, within
from pgassay.analysis.compare.estimate import BlockEstimate, both, bounded, lies_inside, relative
from pgassay.analysis.compare.levels import margins_of, verdict_of
from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import SECONDARY
from pgassay.analysis.reading.metrics import Metric
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.values import Interval, ratio_pct
from pgassay.quantities import LoadUnit

_MOST_UNITS = 1e6
"""Stands for infinitely many degrees of freedom."""


@dataclass(frozen=True)
class Asked:
    """What is compared: a metric of an arm at a load."""

    metric: Metric
    arm: str
    side: str
    baseline: str
    step: float | None
    step_unit: LoadUnit
    unrest: float = 1.0
    """Of the primary metric inside these runs (`spread.py`)."""


def difference_of(
    asked: Asked, sides: Sides, at: int, rule: Rule, stated: float | None
) -> RunDifference | None:
    """Estimates side `at` against side 0; None where one of them has no value in some run.

    All sides take part in the spread of repeated runs.
    """
    if any(len(run) == 0 for side in (sides[0], sides[at]) for run in side):
        return None
    ratio = asked.metric.scale == "ratio"
    first, second = within(sides[0]), within(sides[at])
    means = [math.exp(one.mean) if ratio else one.mean for one in (first, second)]
    complete = [side for side in sides if all(len(run) for run in side)]
    scale = 1.0 if ratio else max(abs(mean) for mean in means)
    spread = run_spread(
        asked.metric.name, complete, scale=scale, stated=stated, unrest=asked.unrest
    )
    inside = _inside_runs(first, second)
    blocks = min(sum(map(len, side)) for side in (sides[0], sides[at]))
    error, degrees = _error(inside, spread, len(sides[0]), len(sides[at]))
    degrees = _never_narrower(error, degrees, inside, rule, blocks)
    mean = second.mean - first.mean
    varies = spread.sd > 0.0 or inside[0] > 0.0
    comparison = _judged(
        asked, mean, error if varies else None, degrees, (means[0], means[1]), blocks, rule
    )
    inner = None
    if varies and math.isfinite(inside[0]) and inside[0] > 0.0:
        inner = _interval(mean, inside[0], rule.critical(blocks, inside[1] + 1.0, 0.05))
    raw = ratio_pct if ratio else float
    return RunDifference(
        side=asked.side,
        arm=asked.arm,
        comparison=comparison,
        within=bounded(both(inner, raw), least=-100.0) if ratio else both(inner, raw),
        within_pct=bounded(both(inner, relative(ratio, means[0])), least=-100.0),
        spread=spread if varies else None,
        runs=(len(sides[0]), len(sides[at])),
        trials=(sum(map(len, sides[0])), sum(map(len, sides[at]))),
        sessions=None,
    )


def _inside_runs(first: Within, second: Within) -> tuple[float, float]:
    """Standard error and degrees of freedom by trials alone (Welch)."""
    variance = first.variance + second.variance
    if not math.isfinite(variance) or variance == 0.0:
        return math.sqrt(variance), 1.0
    below = first.variance**2 / first.degrees + second.variance**2 / second.degrees
    return math.sqrt(variance), variance**2 / below


def _error(
    inside: tuple[float, float], spread: RunSpread, first: int, second: int
) -> tuple[float, float]:
    """Standard error and degrees of freedom with the spread between runs."""
    between = spread.sd * math.sqrt(1.0 / first + 1.0 / second)
    if spread.source is SpreadSource.RUNS:
        known = inside[0] if math.isfinite(inside[0]) else 0.0
        return max(between, known), spread.degrees
    variance = inside[0] ** 2 + between**2
    if not math.isfinite(variance) or inside[0] == 0.0:
        return math.sqrt(variance), _MOST_UNITS
    return math.sqrt(variance), min(variance**2 / (inside[0] ** 4 / inside[1]), _MOST_UNITS)


def _never_narrower(
    error: float, degrees: float, inside: tuple[float, float], rule: Rule, blocks: int
) -> float:
    """The degrees of freedom with which no interval is narrower than that inside runs.

    A known spread beside a variance that few trials estimate gives more of them, and so a smaller
    Student's t.
    """
    if not math.isfinite(error) or inside[0] == 0.0:
        return degrees
    reaches = [
        rule.critical(blocks, freedom + 1.0, 0.05) * of
        for of, freedom in ((error, degrees), inside)
    ]
    return degrees if reaches[0] >= reaches[1] else min(degrees, inside[1])


def _judged(
    asked: Asked,
    mean: float,
    error: float | None,
    degrees: float,
    means: tuple[float, float],
    blocks: int,
    rule: Rule,
) -> Comparison:
    """The comparison with its verdict, by the same rule as inside a run."""
    metric, ratio = asked.metric, asked.metric.scale == "ratio"
    known = error if error is not None and math.isfinite(error) else None
    units = degrees + 1.0
    interval, ninety = (
        None if known is None else _interval(mean, known, rule.critical(blocks, units, alpha))
        for alpha in (0.05, 0.10)
    )
    margins = margins_of(rule, metric, means[0])
    found = BlockEstimate(
        blocks=blocks,
        mean=mean,
        error=known,
        units=units,
        interval=interval,
        p_t=None if known is None else _student_p(mean / known, degrees),
        p_sign_flip=None,
        p_looks=None,
        differs=interval is not None and (interval[0] > 0.0 or interval[1] < 0.0),
        inside=ninety is not None and lies_inside(ninety, margins),
        blocks_to_decide=None,
    )
    always_same = error is None and mean == 0.0 and blocks >= SECONDARY["constant_blocks"]
    to_pct, raw = relative(ratio, means[0]), ratio_pct if ratio else float
    return Comparison(
        metric=metric.name,
        factor=f"{asked.arm}, run" if asked.arm else "run",
        baseline=asked.baseline,
        level=asked.side,
        step=asked.step,
        step_unit=asked.step_unit,
        blocks=blocks,
        baseline_mean=means[0],
        level_mean=means[1],
        effect_pct=to_pct(mean),
        ci95_pct=bounded(both(interval, to_pct), least=-100.0),
        difference=raw(mean),
        ci95=bounded(both(interval, raw), least=-100.0) if ratio else both(interval, raw),
        p_t=found.p_t,
        p_sign_flip=None,
        p_looks=None,
        verdict=Verdict.EQUIVALENT if always_same else verdict_of(found, metric),
        blocks_to_decide=None,
        block_effects_pct=(),
        standard_error=known,
        units=units,
    )


def _interval(mean: float, error: float, critical: float) -> Interval | None:
    reach = critical * error
    return (mean - reach, mean + reach) if math.isfinite(reach) else None


def _student_p(t: float, degrees: float) -> float:
    return float(2.0 * special.stdtr(degrees, -abs(t)))
