"""The effect of a comparison that ended early, adjusted for having ended where it looked large.

Enters: comparisons, the plan, the rule. Leaves: them with the adjusted effect. Never: changes a
verdict or an interval, which are valid whenever the run ends; or is computed at a look.

A run that ends at its first clear result ends sooner where chance enlarged the effect, and so do
the trials of an arm that is dropped at its verdict. The adjusted effect is the one at which runs by
the same rule, with the same scatter, would on average end with the effect that was seen (Whitehead,
Biometrika 73, 1986). docs/methods/verdicts.md, "Verdicts".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.compare.model import Comparison, IntervalKind, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.simulated_runs import Limit, Spreading, simulated_runs
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.plan.model import Plan

_HALVINGS = 10
"""Of the range between zero and the effect seen, which leaves a thousandth of it."""


def adjusted_for_early_end(
    comparisons: Sequence[Comparison], plan: Plan, rule: Rule
) -> tuple[Comparison, ...]:
    """Return the comparisons; each verdict at which the run, or the trials of its arm, ended early
    has its adjusted effect.

    Where arms are compared further after most verdicts (several factors or loads, gates on other
    metrics, several levels with a gate), nothing is added.
    """
    limits = _limits(plan)
    ends_at_verdict = rule.simultaneous == 1 or (
        plan.drops_arms and rule.simultaneous == plan.compared_levels and len(plan.factors) == 1
    )
    if rule.interval is IntervalKind.T or not ends_at_verdict or limits is None:
        return tuple(comparisons)
    return tuple(
        replace(
            c,
            effect_adjusted_pct=_adjusted(c, plan, replace(rule, simultaneous=c.shared_by), limits),
        )
        if _ended_early(c, plan)
        else c
        for c in comparisons
    )


def _ended_early(found: Comparison, plan: Plan) -> bool:
    return (
        (found.metric, found.step) == (plan.metric, None)
        and METRICS[found.metric].scale == "ratio"
        and found.verdict in (Verdict.BETTER, Verdict.WORSE)
        and found.blocks < plan.max_blocks
    )


def _adjusted(found: Comparison, plan: Plan, rule: Rule, limits: Sequence[Limit]) -> float | None:
    if found.standard_error is None:
        return None
    spread = Spreading(
        found.standard_error * math.sqrt(found.blocks),
        max(1.0, found.units / found.blocks),
        adjusted=found.units < found.blocks,
    )
    mean = math.log1p(found.difference / 100.0)
    low, high = 0.0, abs(mean)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        runs = simulated_runs(
            rule,
            spread,
            plan.min_blocks,
            plan.max_blocks,
            middle,
            limits if mean > 0.0 else [one.mirrored() for one in limits],
            limits_only=plan.gates_only,
        )
        low, high = (low, middle) if runs.means.mean() > abs(mean) else (middle, high)
    return ratio_pct(math.copysign((low + high) / 2.0, mean))


def _limits(plan: Plan) -> list[Limit] | None:
    """Those of the gates that the run waits for; None where they are on other metrics, too."""
    if any(plan.metric not in gate.metrics for gate in plan.gates):
        return None
    return [Limit.of(gate) for gate in plan.gates if gate.limit > -100.0]
