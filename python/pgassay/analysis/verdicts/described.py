"""Comparisons of factors whose levels are described side by side.

Enters: comparisons with their verdicts, the plan, the rule. Leaves: the same; those of described
factors without a verdict, each with the 95 % interval of its own figure. Never: changes an
estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import scaled_interval, with_interval
from pgassay.plan.model import Plan


def described(comparisons: Sequence[Comparison], plan: Plan, rule: Rule) -> tuple[Comparison, ...]:
    """Returns all comparisons; those of described factors say whether they differ, by their own
    interval, and not which level is better."""
    names = {factor.name for factor in plan.factors if factor.describes}
    return tuple(_described(one, rule) if one.factor in names else one for one in comparisons)


def _described(one: Comparison, rule: Rule) -> Comparison:
    # The correction for many metrics protects from calling one of them different by chance. Here
    # none is called anything, and its interval would be of no use to a reader.
    interval = scaled_interval(one, rule.critical(one.blocks, one.units, 0.05))
    alone = one if interval is None else with_interval(one, interval)
    ends = alone.ci95
    return replace(
        alone,
        verdict=Verdict.DESCRIBED,
        clear=ends is not None and (ends[0] > 0.0 or ends[1] < 0.0),
        p_by=None,
        blocks_to_decide=None,
        withdrawn=None,
        typical_pct=None,
        effect_adjusted_pct=None,
    )
