"""The metrics beside the primary one and the endpoints: verdicts and intervals, corrected together.

Enters: comparisons, the plan, the rule. Leaves: the same comparisons with corrected verdicts.
Never: touches the primary metric or an endpoint, which have an error of their own, nor the primary
metric in another form, which would contradict it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pgassay.analysis.compare.estimate import lies_inside
from pgassay.analysis.compare.levels import is_endpoint, is_primary_again, margins_of, way
from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import (
    SECONDARY,
    critical_for_many,
    scaled_interval,
    with_interval,
)
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.multiple_testing import selected_alpha, yekutieli
from pgassay.plan.model import Plan

_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


def corrected(comparisons: Sequence[Comparison], plan: Plan, rule: Rule) -> tuple[Comparison, ...]:
    """Corrects all comparisons in their order; the verdicts of endpoints stay as they are.

    Intervals and verdicts of the other metrics have the same correction, so that an interval
    beyond zero never stands beside "no clear difference".
    """
    own = {
        c.metric
        for c in comparisons
        if is_endpoint(c.metric, plan) or is_primary_again(c.metric, plan)
    }
    found = [
        replace(c, clear=c.verdict in _DIFFERENT) if c.metric in own else c for c in comparisons
    ]
    for whole in (True, False):
        family = [
            at
            for at, c in enumerate(found)
            if c.metric not in {plan.metric, *own} and (c.step is None) is whole
        ]
        tested = [at for at in family if found[at].p_t is not None]
        p = np.array([found[at].p_t for at in tested], dtype=np.float64)
        adjusted = dict(zip(tested, yekutieli(p).tolist(), strict=True))
        alpha = selected_alpha(p, SECONDARY["discovery_rate"])
        for at in family:
            found[at] = _said(_widened(found[at], rule, alpha), adjusted.get(at))
    return tuple(found)


def _widened(comparison: Comparison, rule: Rule, alpha: float) -> Comparison:
    """The same with the interval that holds for the metrics that are reported as different.

    What would be equivalent by its own interval, and not by this one, is undecided.
    """
    critical = critical_for_many(rule, comparison.blocks, alpha, comparison.units)
    interval = scaled_interval(comparison, critical)
    if interval is None or comparison.ci95 is None:
        return comparison
    verdict = comparison.verdict
    margins = margins_of(rule, METRICS[comparison.metric], comparison.baseline_mean)
    if verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE) and not lies_inside(interval, margins):
        verdict = Verdict.UNDECIDED
    return with_interval(replace(comparison, verdict=verdict), interval)


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
    """A constant difference in every block, which has no test, of more than what is measurable."""
    known = comparison.withdrawn is None and comparison.blocks >= SECONDARY["constant_blocks"]
    ends = comparison.ci95 or (comparison.difference, comparison.difference)
    return known and (ends[0] > 0.0 or ends[1] < 0.0)
