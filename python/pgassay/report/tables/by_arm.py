"""Tables with a column for each arm.

Enters: the context, rows of texts. Leaves: tables.
Never: computes an estimate, or shows an arm whose log was not read as quiet.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.language import clauses, decimals, tr
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Paragraph, note
from pgassay.report.document.table import Cell, Column, Row, Table, table
from pgassay.report.log_events import event_words
from pgassay.report.tables.cells import valued


def arm_columns(context: ReportContext) -> tuple[Column, ...]:
    """Returns one column for each arm."""
    styles = arm_styles(context.plan.arms)
    arms = (styles[arm.id] for arm in context.analysis.answer.arms)
    return tuple(Column(arm.short, full_title=arm.label, name=arm.id) for arm in arms)


def arm_table(
    context: ReportContext, title: str, rows: Sequence[tuple[str | Cell, Sequence[str | Cell]]]
) -> Table:
    """Rows of (what, its value in each arm)."""
    columns = arm_columns(context)
    return table(
        [Column(title, "heading", name="of"), *columns], [(name, *values) for name, values in rows]
    )


def zeros(rows: Sequence[Row], *, at: int = 0, of: int | None = None) -> Paragraph | None:
    """Names rows that a table leaves out since all arms have zero, by the cell at a place, in
    brackets that of whom they are."""
    names = [one[at] if of is None else f"{one[at]} ({one[of]})" for one in rows]
    return note(tr("Zero in every arm: {names}.", names=clauses(names))) if names else None


def log_event_table(context: ReportContext) -> Table:
    """How often each kind of event occurred in a trial of each arm, on average."""
    read = {
        arm.id: [t.logged for t in context.series if t.arm == arm.id and t.logged is not None]
        for arm in context.analysis.answer.arms
    }
    kinds = {kind for trials in read.values() for trial in trials for kind in trial}
    rows = [
        (title, [_mean([trial.get(kind, 0) for trial in trials]) for trials in read.values()])
        for kind, title in event_words(kinds)
    ]
    return arm_table(context, tr("Mean per trial"), rows)


def _mean(counts: list[int]) -> Cell:
    return valued(sum(counts) / len(counts) if counts else None, _rounded)


def _rounded(mean: float) -> str:
    return decimals(mean, ".1f").removesuffix(".0") if mean < 100 else decimals(mean, ".0f")
