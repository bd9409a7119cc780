"""The gates that were asked for when the report was made.

Enters: the context. Leaves: a table, and what decides. Never: decides an outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pgassay.analysis.gates.model import GateCheck, GateOutcome, GateResult, worst
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.gates import NOT_MEASURED, change_of, interval_of, reason_of
from pgassay.language import ntr, tr
from pgassay.plan.model import Gate
from pgassay.quantities import load
from pgassay.report.context import ApartContext, HistoryContext, ReportContext
from pgassay.report.document.blocks import Fold, Paragraph
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, subject, tone_cell, written

sentence = texts_of(__name__)


def _checked(show: Callable[[GateCheck, float], object]) -> Callable[[Mapping[str, Any]], str]:
    """Shows a check with the limit of its gate; a dash where nothing was measured."""
    return lambda row: str(show(row["of"], row["gate"].limit)) if row["of"] else ABSENT


_COLUMNS = (
    written("gate.text", "Gate", str, "heading", merges=True),
    column("metric", "Metric", lambda row: METRICS[_metric(**row)].title, "text", merges=True),
    written("of.comparison", "Level compared", subject, "text"),
    written("of.comparison", "Load", lambda one: load(one.step, one.step_unit), "line"),
    column("of.change", "Change", _checked(change_of)),
    column("of.ci95", "Interval", _checked(interval_of)),
    column("of.outcome", "Outcome", lambda row: _outcome(row["of"]), "text"),
)
_TONES = {
    GateOutcome.HOLDS: "better",
    GateOutcome.FAILED: "worse",
    GateOutcome.UNDECIDED: "undecided",
}


@section("answer/gates", "Gates")
def gates(context: ReportContext | ApartContext | HistoryContext) -> Blocks:
    """Nothing where no gate was asked for."""
    if context.gates:
        yield gate_table(context.gates)
        between = tuple(one for each in context.gates if (one := each.ends()[1]).checks)
        count = sum(len(one.checks) for one in between)
        if between:
            summary = ntr("{n} check between these", "{n} checks between these", count)
            yield Fold(summary, [_table(between)], in_details=True)
        yield Paragraph(
            sentence("a_gate_holds_where"),
            "observed",
        )


def gate_table(results: tuple[GateResult, ...]) -> Table:
    """Every gate on every level and load; of many queries those that are worst and best."""
    return _table(tuple(one.ends()[0] for one in results))


def _table(results: tuple[GateResult, ...]) -> Table:
    rows = ({"gate": each.gate, "of": one} for each in results for one in each.checks or (None,))
    return view(_COLUMNS, rows, tr("Gates"))


def _metric(gate: Gate, of: GateCheck | None) -> str:
    return gate.metrics[-1] if of is None else of.comparison.metric


def _outcome(check: GateCheck | None) -> Cell:
    outcome = check.outcome if check else worst(())
    reason = reason_of(check) if check else NOT_MEASURED
    return replace(tone_cell(outcome.value, _TONES[outcome]), note=str(reason or ""))
