"""The correction of the metrics beside the primary one, and of all that is reported like them.

Enters: secondary.toml; comparisons. Leaves: `SECONDARY`, levels, half-widths, intervals.
Never: gives a verdict.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

import numpy as np

from pgassay.analysis.compare.estimate import both, bounded, relative
from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.multiple_testing import selected_alpha
from pgassay.analysis.statistics.values import Interval, hull, ratio_pct

SECONDARY: Mapping[str, float] = tomllib.loads(
    (files(__package__) / "secondary.toml").read_text("utf-8")
)


def secondary_alpha(comparisons: Sequence[Comparison]) -> float:
    """Returns the level of the intervals of the metrics beside the primary one."""
    family = [c.p_t for c in comparisons if c.step is None and c.p_by is not None]
    return selected_alpha(np.array(family, dtype=np.float64), SECONDARY["discovery_rate"])


def critical_for_many(rule: Rule, blocks: int, alpha: float, units: float | None = None) -> float:
    """Returns the half-width in standard errors: of the run's rule, and of the correction for many.

    `units` is how many independent values the error is worth, if not the number of blocks.
    """
    units = blocks if units is None else units
    if units < 2:
        return math.inf
    student = float(special.stdtrit(units - 1, 1 - alpha / 2))
    return max(rule.critical(blocks, units, 0.05), student)


def scaled_interval(comparison: Comparison, critical: float) -> Interval | None:
    """Returns the interval of so many standard errors, on the scale of comparison; None where
    nothing varies."""
    error, mean = comparison.standard_error, comparison.difference
    if not math.isfinite(critical) or (error is None and not comparison.resolution):
        return None
    if METRICS[comparison.metric].scale == "ratio":
        mean = math.log1p(mean / 100.0)
    reach = critical * (error or 0.0) + comparison.resolution
    found = mean - reach, mean + reach
    durations = comparison.by_duration
    if durations is None:
        return found
    if durations.effect_pct is None:
        return None
    mean = math.log1p(durations.effect_pct / 100.0)
    reach = critical * (durations.standard_error or 0.0)
    return hull(found, (mean - reach, mean + reach))


def with_interval(comparison: Comparison, interval: Interval | None) -> Comparison:
    """Returns the comparison with this interval, which is on the scale of comparison."""
    ratio = METRICS[comparison.metric].scale == "ratio"
    ends = both(interval, ratio_pct if ratio else float)
    to_pct = relative(ratio, comparison.baseline_mean)
    return replace(
        comparison,
        ci95=bounded(ends, least=-100.0) if ratio else ends,
        ci95_pct=bounded(both(interval, to_pct), least=-100.0),
    )
