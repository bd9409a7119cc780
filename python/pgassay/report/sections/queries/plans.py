"""The plans of queries that changed: both side by side, where they begin to differ and why.

Enters: the context. Leaves: reasons, and both plans as lines. Never: judges a plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.plans.model import PlanChange
from pgassay.analysis.queries.model import QueryEffect
from pgassay.language import colon, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Block, Fold, Group, Items, note
from pgassay.report.document.section import Blocks, differing, section
from pgassay.report.document.text import texts_of
from pgassay.report.sections.plan_column import plan_column
from pgassay.report.tables.cells import subject

sentence = texts_of(__name__)

_MOST_IN_TEXT = 5
_MOST_OPEN = 3


@section("queries/query_plans", "Plans of queries")
def plans(context: ReportContext) -> Blocks:
    """The plans that differ, of the most important queries first; nothing where none is known."""
    found = context.analysis.queries
    known = [one for one in found.effects if one.plan_differs is not None] if found else []
    if not known:
        return
    changed = [(one, one.plan_change) for one in known if one.plan_change is not None]
    yield differing("report/sections/plans", len(known), len(changed))
    for at, (one, change) in enumerate(changed):
        named = context.has_several_levels
        title = f"{one.query} ({subject(one)})" if named else one.query
        blocks = list(_plans(one, change))
        in_text = at < _MOST_IN_TEXT
        yield Fold(title, blocks, at < _MOST_OPEN, in_text=in_text, in_details=in_text)
    yield note(sentence("plans_are_of_the"))


def _plans(one: QueryEffect, change: PlanChange) -> Iterator[Block]:
    yield Items(change.reasons)
    if one.plan_varies:
        yield note(sentence("not_every_trial"))
    sides = ((one.baseline, change.baseline), (one.level, change.level))
    columns = [
        plan_column(f"{one.factor} = {level}", side.text, side.differs_at) for level, side in sides
    ]
    yield Group(columns, "pair")
    for level, side in sides:
        if side.misestimates:
            yield note(f"{one.factor} = {level}{colon()}")
            yield Items(side.misestimates, "note")
    if change.same_nodes:
        yield note(tr("All nodes are the same; only what the server did differs."))
