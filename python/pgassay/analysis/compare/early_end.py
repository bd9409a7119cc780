"""The effect of a run that ended early, adjusted for having ended where it looked large.

Enters: an estimate, the plan, the rule. Leaves: the adjusted effect. Never: changes a verdict or an
interval; both are valid whenever the run ends.

A run that ends at its first clear result ends sooner where chance enlarged the effect. The adjusted
effect is the one at which runs by the same rule, with the same scatter, would on average end with
the effect that was seen (Whitehead, Biometrika 73, 1986). docs/methods/verdicts.md, "Verdicts".
"""

from __future__ import annotations

import math

from pgassay.analysis.compare.estimate import BlockEstimate
from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.simulated_runs import Spreading, simulated_runs
from pgassay.plan.model import Plan

_HALVINGS = 10
"""Of the range between zero and the effect seen, which leaves a thousandth of it."""


def adjusted_for_early_end(found: BlockEstimate, plan: Plan, rule: Rule) -> float | None:
    """The adjusted effect in logarithms; None where the run did not end early on this verdict.

    With several verdicts a run goes on after most of them, and the enlargement is small
    (docs/measured/validation-nasty.md).
    """
    open_ended = rule.interval is not IntervalKind.T and rule.simultaneous == 1
    is_early = found.differs and not found.inside and found.blocks < plan.max_blocks
    if not (open_ended and is_early) or found.error is None:
        return None
    spread = Spreading(
        found.error * math.sqrt(found.blocks),
        max(1.0, found.units / found.blocks),
        adjusted=found.units < found.blocks,
    )
    low, high = 0.0, abs(found.mean)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        runs = simulated_runs(rule, spread, plan.min_blocks, plan.max_blocks, middle)
        low, high = (low, middle) if runs.means.mean() > abs(found.mean) else (middle, high)
    return math.copysign((low + high) / 2.0, found.mean)
