"""What a report tells of several factors and ordered levels, gathered for the templates.

Enters: the context. Leaves: one `Factorial`. Never: computes an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.plan.described import aliases, combinations_line, plots_line
from pgassay.report.charts.interactions import pairs_left_out
from pgassay.report.context import ReportContext
from pgassay.report.factorial_tables import (
    ArmEffectRow,
    InteractionRow,
    MaxTRow,
    SimpleEffectRow,
    TrendRow,
    arm_effect_rows,
    interaction_rows,
    max_t_rows,
    simple_effect_rows,
    trend_rows,
)


@dataclass(frozen=True)
class Factorial:
    """Rows and lines, each empty where there is nothing to tell."""

    interactions: tuple[InteractionRow, ...]
    simple_effects: tuple[SimpleEffectRow, ...]
    pairs_left_out: int
    trends: tuple[TrendRow, ...]
    arm_effects: tuple[ArmEffectRow, ...]
    max_t: tuple[MaxTRow, ...]
    alias_lines: tuple[str, ...]
    design_lines: tuple[str, ...]
    """How the factors were combined, and how blocks were randomised."""


def factorial_of(context: ReportContext) -> Factorial:
    """Everything there is to tell."""
    plan = context.plan
    several = len(plan.factors) > 1
    lines = (
        f"Arms: {combinations_line(plan)}.",
        f"Plots: {plots_line(plan)}." if plan.plots_reason else "",
    )
    return Factorial(
        interactions=interaction_rows(context),
        simple_effects=simple_effect_rows(context),
        pairs_left_out=pairs_left_out(context.analysis),
        trends=trend_rows(context),
        arm_effects=arm_effect_rows(context),
        max_t=max_t_rows(context),
        alias_lines=aliases(plan),
        design_lines=tuple(line for line in lines if line) if several else (),
    )
