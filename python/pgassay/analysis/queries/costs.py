"""What a query costs beside its time, much of it with nearly no noise, and its plan.

Enters: what EXPLAIN (ANALYZE, BUFFERS) showed in each trial, 95th percentiles. Leaves: the change
of each cost, the plan that most trials had. Never: decides a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import pair_blocks
from pgassay.analysis.compare.estimate import both, bounded, estimate
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import SECONDARY
from pgassay.analysis.queries.model import CostChange, ExplainPlan, TrialQueries
from pgassay.analysis.reading.metrics import BLOCKS, P95
from pgassay.analysis.reading.plan_shape import shape_of
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.plan.model import Factor, Plan

_OF_AN_EXECUTION = (BLOCKS, "temp", "dirtied", "wal_bytes", "rows", "planning_ms")


@dataclass(frozen=True)
class UsualPlan:
    """The plan that most trials of a level had."""

    fingerprint: str
    plan: ExplainPlan
    varies: bool
    """Whether other trials had another one."""


def cost_changes(
    plan: Plan,
    trials: Sequence[TrialQueries],
    query: str,
    factor: Factor,
    level: str,
    rule: Rule,
) -> dict[str, CostChange]:
    """Returns the change of each cost of a query, by the names of `QueryCosts`, and that of its
    95th percentile, `p95`; without those of which no block tells."""
    found = {}
    for name in (*_OF_AN_EXECUTION, P95):
        values = {
            (one.block, one.arm): value
            for one in trials
            if (value := _value(one, query, name)) is not None
        }
        change = _change(values, plan, factor, level, rule) if values else None
        if change is not None:
            found[name] = change
    return found


def _value(trial: TrialQueries, query: str, name: str) -> float | None:
    if name == P95:
        return trial.p95_ms.get(query)
    value: float | None = getattr(trial.costs.get(query), name, None)
    return value


def _change(
    values: Mapping[tuple[int, str], float], plan: Plan, factor: Factor, level: str, rule: Rule
) -> CostChange | None:
    """The change of one cost; None where no block tells.

    What never varies over a few blocks is known as it is. Where only some trials have none of it,
    there is no ratio, and so no interval.
    """
    vectors = {place: np.array([value]) for place, value in values.items()}
    pairs = pair_blocks(vectors, plan, factor, level)
    if pairs is None:
        return None
    before, after = pairs.baseline[:, 0], pairs.level[:, 0]
    means = float(before.mean()), float(after.mean())
    is_constant = len(before) >= SECONDARY["constant_blocks"]
    if not np.any(before) and not np.any(after):
        return CostChange(*means, 0.0, (0.0, 0.0) if is_constant else None)
    least = float(before.min()), float(after.min())
    if min(least) <= 0.0:
        known = 100.0 * (means[1] / means[0] - 1.0) if means[0] else None
        always, never = max(least) > 0.0, 0.0 in means
        return CostChange(*means, known, None, differs=is_constant and always and never)
    found = estimate(
        np.log(after) - np.log(before), rule.margins(1.0, ratio=True), rule, judged=False
    )
    ends = found.interval
    if found.error is None and is_constant:
        ends = found.mean, found.mean
    pct = bounded(both(ends, ratio_pct), least=-100.0)
    differs = pct is not None and not pct[0] <= 0.0 <= pct[1]
    return CostChange(*means, ratio_pct(found.mean), pct, differs)


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
