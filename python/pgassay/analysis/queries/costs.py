"""What has nearly no noise: the blocks that a query asks for, and its plan.

Enters: what EXPLAIN (ANALYZE, BUFFERS) showed in each trial. Leaves: the change of blocks, the plan
that most trials had. Never: decides a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import pair_blocks
from pgassay.analysis.compare.estimate import both, bounded, estimate
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import SECONDARY
from pgassay.analysis.queries.model import CostChange, ExplainPlan, TrialQueries
from pgassay.analysis.reading.plan_shape import shape_of
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.plan.model import Factor, Plan


@dataclass(frozen=True)
class UsualPlan:
    """The plan that most trials of a level had."""

    fingerprint: str
    plan: ExplainPlan
    varies: bool
    """Whether other trials had another one."""


def cost_change(
    plan: Plan,
    trials: Sequence[TrialQueries],
    query: str,
    factor: Factor,
    level: str,
    rule: Rule,
) -> CostChange | None:
    """Returns the change of the blocks that a query asks for; None where no block tells.

    Blocks that never vary over a few trials are known as they are. Where only some trials ask for
    none, there is no ratio, and so no interval.
    """
    vectors = {
        (one.block, one.arm): np.array([costs.blocks])
        for one in trials
        if (costs := one.costs.get(query)) is not None and costs.blocks is not None
    }
    pairs = pair_blocks(vectors, plan, factor, level) if vectors else None
    if pairs is None:
        return None
    before, after = pairs.baseline[:, 0], pairs.level[:, 0]
    means = float(before.mean()), float(after.mean())
    is_constant = len(before) >= SECONDARY["constant_blocks"]
    if not np.any(before) and not np.any(after):
        return CostChange(*means, 0.0, (0.0, 0.0) if is_constant else None)
    if before.min() <= 0.0 or after.min() <= 0.0:
        known = 100.0 * (means[1] / means[0] - 1.0) if means[0] else None
        return CostChange(*means, known, None)
    found = estimate(
        np.log(after) - np.log(before), rule.margins(1.0, ratio=True), rule, judged=False
    )
    ends = found.interval
    if found.error is None and is_constant:
        ends = found.mean, found.mean
    return CostChange(*means, ratio_pct(found.mean), bounded(both(ends, ratio_pct), least=-100.0))


def most_usual_plan(seen: Iterable[ExplainPlan | None]) -> UsualPlan | None:
    """Returns the plan that most trials had, the first of those with equally many; None where none
    is known."""
    counts: dict[str, int] = {}
    plans: dict[str, ExplainPlan] = {}
    for one in seen:
        if one:
            fingerprint = shape_of(one).fingerprint
            counts[fingerprint] = counts.get(fingerprint, 0) + 1
            plans.setdefault(fingerprint, one)
    if not counts:
        return None
    usual = max(counts, key=lambda each: counts[each])
    return UsualPlan(usual, plans[usual], len(counts) > 1)
