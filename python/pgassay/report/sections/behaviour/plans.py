"""The plans of the scenarios' statements: those that differ between arms first.

Enters: the context. Leaves: each plan as lines, with the arms that had it. Never: judges a plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.reading.plain_text import one_line, visible
from pgassay.analysis.statements.model import StatementPlan, StatementPlans
from pgassay.findings.behaviour.plans import arms_of
from pgassay.language import listed, ntr, tr
from pgassay.notes import Note
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Group, Items, Paragraph, note
from pgassay.report.document.section import Blocks, differing, section
from pgassay.report.document.text import said, texts_of
from pgassay.report.sections.plan_column import plan_column

sentence = texts_of(__name__)

_WIDTH = 100


@section("behaviour/plans", "Plans")
def plans(context: ReportContext) -> Blocks:
    """Shows the plans of each statement by arm; yields nothing where none was read."""
    found = context.analysis.explanation.plans
    if not any(one.plans for one in found):
        return
    several = [one for one in found if len(one.plans) > 1]
    whole = sum(bool(one.plans) for one in found)
    yield differing("report/sections/plans", whole, len(several))
    yield from (_statement(one, context) for one in several)
    if not several and len(context.plan.arms) > 1:
        yield Paragraph(sentence("all_statements_with_a", whole=whole))
    if same := [_statement(one, context) for one in found if len(one.plans) == 1]:
        summary = ntr("{n} statement with one plan", "{n} statements with one plan", len(same))
        yield Fold(summary, same)
    for reason, texts in _without_plan(found):
        yield note(said("No plan: {reason} (<code>{texts}</code>).", reason=reason, texts=texts))
    yield note(sentence("generic_plans_of_prepared"))


def _statement(one: StatementPlans, context: ReportContext) -> Fold:
    """Folds the plans of one statement side by side, each beneath the arms that had it."""

    def arms(plan: StatementPlan) -> str:
        if len(one.plans) == 1 and len(plan.trials) == len(context.labels) > 1:
            return tr("all arms")
        return str(arms_of(plan, one, context.analysis, counted=True))

    title = tr(
        "{scenario}, line {line}: {sql}",
        scenario=one.scenario,
        line=one.line,
        sql=one_line(one.sql, _WIDTH),
    )
    columns = [plan_column(arms(plan), plan.text, plan.differs_at) for plan in one.plans]
    reasons = [Items(plan.reasons) for plan in one.plans if plan.reasons]
    return Fold(title, [*reasons, Group(columns, "pair plans")], one.differs, in_text=True)


def _without_plan(found: Sequence[StatementPlans]) -> list[tuple[str, str]]:
    """Lists reasons, each with the statements that have no plan for it."""
    by_reason: dict[Note | None, dict[str, None]] = {}
    for one in found:
        if not one.plans:
            by_reason.setdefault(one.reason, {})[one_line(one.sql, 60)] = None
    return [
        (visible(str(reason or tr("not known"))), listed(texts))
        for reason, texts in by_reason.items()
    ]
