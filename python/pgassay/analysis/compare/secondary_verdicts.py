"""The metrics beside the primary one and the endpoints: verdicts and intervals, corrected together.

Enters: comparisons, the plan, the rule. Leaves: the same comparisons with corrected verdicts.
Never: touches the primary metric or an endpoint, which have an error of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from pgassay.analysis.compare.estimate import both, bounded, lies_inside, relative
from pgassay.analysis.compare.levels import is_endpoint, margins_of, way
from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import SECONDARY
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.multiple_testing import selected_alpha, yekutieli
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.plan.model import Plan

_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


def corrected(comparisons: Sequence[Comparison], plan: Plan, rule: Rule) -> tuple[Comparison, ...]:
    """All comparisons in their order; the verdicts of endpoints stay as they are.

    Intervals and verdicts of the other metrics have the same correction, so that an interval
    beyond zero never stands beside "no clear difference".
    """
    found = [
        replace(c, clear=c.verdict in _DIFFERENT) if is_endpoint(c.metric, plan) else c
        for c in comparisons
    ]
    for whole in (True, False):
        family = [
            at
            for at, c in enumerate(found)
            if c.metric != plan.metric
            and not is_endpoint(c.metric, plan)
            and (c.step is None) is whole
        ]
        tested = [at for at in family if found[at].p_t is not None]
        p = np.array([found[at].p_t for at in tested], dtype=np.float64)
        adjusted = dict(zip(tested, yekutieli(p).tolist(), strict=True))
        alpha = selected_alpha(p, SECONDARY["discovery_rate"])
        for at in family:
            found[at] = _said(_with_interval(found[at], rule, alpha), adjusted.get(at))
    return tuple(found)


def _with_interval(comparison: Comparison, rule: Rule, alpha: float) -> Comparison:
    """The same with the interval that holds for the metrics that are reported as different.

    What would be equivalent by its own interval, and not by this one, is undecided.
    """
    error, units = comparison.standard_error, comparison.units
    if error is None or units < 2 or comparison.ci95 is None:
        return comparison
    metric = METRICS[comparison.metric]
    ratio = metric.scale == "ratio"
    raw = ratio_pct if ratio else float
    mean = math.log1p(comparison.difference / 100.0) if ratio else comparison.difference
    student = float(special.stdtrit(units - 1, 1 - alpha / 2))
    reach = error * max(rule.critical(comparison.blocks, units, 0.05), student)
    interval = (mean - reach, mean + reach)
    verdict = comparison.verdict
    inside = lies_inside(interval, margins_of(rule, metric, comparison.baseline_mean))
    if verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE) and not inside:
        verdict = Verdict.UNDECIDED
    ends = both(interval, raw)
    to_pct = relative(ratio, comparison.baseline_mean)
    return replace(
        comparison,
        verdict=verdict,
        ci95=bounded(ends, least=-100.0) if ratio else ends,
        ci95_pct=bounded(both(interval, to_pct), least=-100.0),
    )


def _said(comparison: Comparison, p: float | None) -> Comparison:
    clear = _never_varies(comparison) if p is None else _is_clear(comparison, p)
    verdict = comparison.verdict
    if verdict is Verdict.NEGLIGIBLE and not clear:
        verdict = Verdict.EQUIVALENT
    elif verdict in _DIFFERENT and not clear:
        verdict = Verdict.UNDECIDED
    elif verdict is Verdict.UNDECIDED and clear and comparison.withdrawn is None:
        verdict = way(comparison.difference, METRICS[comparison.metric])
    return replace(comparison, verdict=verdict, p_by=p, clear=clear)


def _is_clear(comparison: Comparison, p: float) -> bool:
    if comparison.withdrawn is not None or p > SECONDARY["discovery_rate"]:
        return False
    interval = comparison.ci95
    outside = interval is not None and (interval[0] > 0.0 or interval[1] < 0.0)
    return comparison.verdict in _DIFFERENT or outside


def _never_varies(comparison: Comparison) -> bool:
    """A constant difference in every block, which has no test."""
    known = comparison.withdrawn is None and comparison.blocks >= SECONDARY["constant_blocks"]
    return known and comparison.difference != 0.0
