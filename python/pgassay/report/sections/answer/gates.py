"""The gates that were asked for when the report was made.

Enters: the context. Leaves: a table, and what decides. Never: decides an outcome.
"""

from __future__ import annotations

from dataclasses import replace

from pgassay.analysis.gates.model import GateOutcome, GateResult
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.gates import NOT_MEASURED, change_of, interval_of, reason_of
from pgassay.language import Message, tr
from pgassay.notes import Note
from pgassay.quantities import load
from pgassay.report.context import ApartContext, ReportContext
from pgassay.report.document.blocks import Paragraph
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, subject, tone_cell

sentence = texts_of(__name__)

_COLUMNS = (
    Column(Message("Gate"), "heading", merges=True),
    Column(Message("Metric"), "text", merges=True),
    Column(Message("Level compared"), "text"),
    Column(Message("Load"), "line"),
    Column(Message("Change")),
    Column(Message("Interval")),
    Column(Message("Outcome"), "text"),
)
_TONES = {
    GateOutcome.HOLDS: "better",
    GateOutcome.FAILED: "worse",
    GateOutcome.UNDECIDED: "undecided",
}


@section("answer/gates", "Gates")
def gates(context: ReportContext | ApartContext) -> Blocks:
    """Nothing where no gate was asked for."""
    if context.gates:
        yield gate_table(context.gates)
        yield Paragraph(
            sentence("a_gate_holds_where"),
            "observed",
        )


def gate_table(results: tuple[GateResult, ...]) -> Table:
    """Every gate on every level and load."""
    rows: list[tuple[str | Cell, ...]] = []
    for result in results:
        text, limit = result.gate.text, result.gate.limit
        if not result.checks:
            cell = _outcome(result.outcome, NOT_MEASURED)
            rows.append((text, METRICS[result.gate.metrics[-1]].title, *[ABSENT] * 4, cell))
        rows += [
            (
                text,
                METRICS[one.comparison.metric].title,
                subject(one.comparison),
                load(one.comparison.step, one.comparison.step_unit),
                str(change_of(one, limit)),
                str(interval_of(one, limit)),
                _outcome(one.outcome, reason_of(one)),
            )
            for one in result.checks
        ]
    return replace(table(_COLUMNS, rows), label=tr("Gates"))


def _outcome(outcome: GateOutcome, reason: Note | None) -> Cell:
    cell = tone_cell(outcome.value, _TONES[outcome])
    return Cell(cell.text, style=cell.style, note=str(reason or ""))
