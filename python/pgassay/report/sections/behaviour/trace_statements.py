"""Statements of a replayed trace: which of them a level makes faster or slower.

Enters: the context. Leaves: a table, the statement that gains or loses most first. Never: shows a
text of the trace.
"""

from __future__ import annotations

from collections.abc import Iterable

from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.queries.model import QueryEffect
from pgassay.language import tr
from pgassay.quantities import milliseconds, signed_milliseconds
from pgassay.report.charts.style import TONES
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, note
from pgassay.report.document.section import Blocks, differing, section
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import (
    BLOCKS,
    interval_column,
    percent_column,
    subject,
    verdict_column,
    whole,
    written,
)

sentence = texts_of(__name__)
_MOST = 20
"""Rows that are not folded."""
_COLUMNS = (
    column("query", "Statement", lambda one: Cell(one.query, "code"), "heading"),
    column("level", "Level", subject, "line"),
    written("weight", "Calls", whole),
    written("baseline_ms", "Baseline", milliseconds),
    written("ms", "Of the level", milliseconds),
    percent_column("change_pct"),
    interval_column("ci95_pct", of="change_pct"),
    written("gained_ms", "Whole trace", lambda ms: signed_milliseconds(-ms)),
    verdict_column(TONES),
    BLOCKS,
)


@section("behaviour/trace_statements", "Statements of the trace")
def trace_statements(context: ReportContext) -> Blocks:
    """Shows the change of each statement; yields nothing for a load that is no replay."""
    found = context.analysis.explanation.trace_statements
    if found is None:
        return
    effects = sorted(found.effects, key=lambda one: -abs(one.gained_ms))
    differ = {one.query for one in effects if one.verdict in (Verdict.BETTER, Verdict.WORSE)}
    number = len({one.query for one in effects})
    yield differing("report/sections/statements", number, len(differ))
    yield note(sentence("all_arms_replay"))
    yield _table(effects[:_MOST])
    if len(effects) > _MOST:
        yield Fold(tr("All of them"), [_table(effects)])


def _table(effects: Iterable[QueryEffect]) -> Table:
    return view(_COLUMNS, effects)
