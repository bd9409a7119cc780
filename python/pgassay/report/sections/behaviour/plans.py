"""The plans of the scenarios' statements: those that differ between arms first.

Enters: the context. Leaves: each plan as lines, with the arms that had it. Never: judges a plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.analysis.reading.plain_text import one_line, visible
from pgassay.analysis.statements.model import StatementPlan, StatementPlans
from pgassay.findings.behaviour.plans import arms_of
from pgassay.language import listed, retold, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Content, section

_MOST_LINES = 60
_WIDTH = 100


@dataclass(frozen=True)
class ShownPlan:
    """One plan as it is printed."""

    arms: str
    text: str


@dataclass(frozen=True)
class ShownStatement:
    """One statement and its plans."""

    title: str
    sql: str
    plans: tuple[ShownPlan, ...]
    is_open: bool


@section("behaviour/plans", "Plans")
def plans(context: ReportContext) -> Content | None:
    """Left out where no plan was read."""
    found = context.analysis.plans
    if not any(one.plans for one in found):
        return None
    several = [one for one in found if len(one.plans) > 1]
    return {
        "different": [_shown(one, context) for one in several],
        "same": [_shown(one, context) for one in found if len(one.plans) == 1],
        "without": _without_plan(found),
        "whole": sum(bool(one.plans) for one in found),
    }


def _shown(one: StatementPlans, context: ReportContext) -> ShownStatement:
    def arms(plan: StatementPlan) -> str:
        if len(one.plans) == 1 and len(plan.trials) == len(context.labels) > 1:
            return tr("all arms")
        return arms_of(plan, one, context.analysis, counted=True)

    return ShownStatement(
        tr(
            "{scenario}, line {line}: {sql}",
            scenario=one.scenario,
            line=one.line,
            sql=one_line(one.sql, _WIDTH),
        ),
        visible(one.sql),
        tuple(ShownPlan(arms(plan), _text(plan)) for plan in one.plans),
        one.differs,
    )


def _text(plan: StatementPlan) -> str:
    lines = list(plan.text[:_MOST_LINES])
    if len(plan.text) > _MOST_LINES:
        lines.append(tr("… {number} more lines", number=len(plan.text) - _MOST_LINES))
    return "\n".join(lines)


def _without_plan(found: Sequence[StatementPlans]) -> list[tuple[str, str]]:
    """Reason → the statements that have no plan for it."""
    by_reason: dict[str, dict[str, None]] = {}
    for one in found:
        if not one.plans:
            by_reason.setdefault(retold(visible(one.reason)), {})[one_line(one.sql, 60)] = None
    return [(reason, listed(texts)) for reason, texts in by_reason.items()]
