"""Statements of the load: time, calls, blocks, WAL and waits of each, by arm.

Enters: the context. Leaves: tables and texts. Never: computes an estimate, or shows a text as
anything but text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pgassay.analysis.reading.plain_text import one_line, visible
from pgassay.analysis.statements.model import StatementUse
from pgassay.language import Message, decimals, listed, ntr, tr
from pgassay.plan.model import ALL_ARMS
from pgassay.quantities import milliseconds, signed_milliseconds, size
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Code, Fold, PageOnly, Paragraph, note
from pgassay.report.document.section import Blocks, differing, section
from pgassay.report.document.table import Cell, Column, Table, column, table, view
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import (
    inside,
    probability,
    subject,
    tone_cell,
    whole,
    written,
)

sentence = texts_of(__name__)

_WIDTH = 90
_FEW = 0.005
"""Fewer blocks and rows per call are shown as zero, fewer average sessions not at all."""


@section("behaviour/statements", "Statements")
def statements(context: ReportContext) -> Blocks:
    """Shows what each statement took in each arm; yields nothing without pg_stat_statements."""
    used = context.analysis.explanation.statement_use
    if not used:
        return
    differ = [one for one in used if any(each.clear for each in one.effects)]
    is_compared = any(one.effects for one in used)
    yield differing("report/sections/statements", len(used), len(differ) if is_compared else None)
    yield _times(context)
    yield note(
        ntr(
            "{n} of them takes 80 % of the execution time of all statements.",
            "{n} of them take 80 % of the execution time of all statements.",
            sum(one.of_the_80_pct for one in used),
        ),
        sentence("by_pgstatstatements_over_the"),
    )
    differences = _differences(context)
    if clear := _differences(context, only_clear=True):
        yield Paragraph(tr("These differ clearly between levels:"))
        yield clear
    elif differences:
        yield Paragraph(tr("The execution time of no statement differs clearly between levels."))
    if differences:
        how = sentence("the_unit_is_the")
        summary = ntr("{n} difference", "All {n} differences", len(differences))
        yield Fold(summary, [differences, note(how)])
    what = sentence("blocks_are_pages_of")
    summary = tr("Calls, blocks, WAL and wait events of each statement")
    titles = PageOnly([note(sentence("hover_over_a_columns"))])
    yield Fold(summary, [_costs(context), note(what), titles], in_text=True)
    if texts := [Code(visible(one.text), "sql") for one in used if one.text]:
        yield Fold(tr("Texts"), texts)


def statement_name(one: StatementUse) -> str:
    """Names a statement by its rank and text, such as `1. SELECT note FROM item WHERE id = $1`."""
    return f"{one.ranked}. {one_line(one.text, _WIDTH) or f'queryid {one.queryid}'}"


def statement_names(context: ReportContext) -> dict[str, str]:
    """queryid → how a statement is called, of all whose text is known."""
    texts = {id_: one_line(text, _WIDTH) for id_, text in context.facts.statements.items() if text}
    return texts | {
        one.queryid: statement_name(one) for one in context.analysis.explanation.statement_use
    }


def _arms(context: ReportContext) -> dict[str, str]:
    return {arm.id: arm.short for arm in arm_styles(context.plan.arms).values()} | {
        ALL_ARMS: tr("all arms")
    }


def _times(context: ReportContext) -> Table:
    used, names = context.analysis.explanation.statement_use, _arms(context)
    columns = [Column(names.get(costs.arm, costs.arm)) for costs in used[0].by_arm]
    rows: list[tuple[str | Cell, ...]] = [
        (
            Cell(statement_name(one), style="code"),
            *(
                Cell(
                    f"{milliseconds(costs.ms_per_tx)} ({decimals(costs.share_pct, '.0f')} %)",
                    value=costs.ms_per_tx,
                )
                for costs in one.by_arm
            ),
        )
        for one in used
    ]
    return table(
        [Column(Message("Execution time per transaction (share)"), "heading"), *columns], rows
    )


def _named(
    context: ReportContext, part: Callable[[StatementUse], Iterable[Any]]
) -> Iterator[Mapping[str, Any]]:
    """Parts of each statement with its name."""
    for one in context.analysis.explanation.statement_use:
        for each in part(one):
            yield {"statement": statement_name(one), "of": each}


_STATEMENT = column("statement", "Statement", lambda row: Cell(row["statement"], "code"), "group")
_DIFFERENCES = (
    column("level", "Level", subject, "heading"),
    written("baseline_ms", "Baseline", milliseconds),
    written("level_ms", "Of the level", milliseconds),
    written("difference_ms", "Difference", signed_milliseconds),
    written("ci95_ms", "95 % interval", lambda e: tr(" to ").join(map(signed_milliseconds, e))),
    written("p_by", "BY p", probability),
    written("clear", "Result", lambda clear: _result(clear), "line"),
)


def _differences(context: ReportContext, *, only_clear: bool = False) -> Table:
    found = _named(context, lambda one: [e for e in one.effects if e.clear or not only_clear])
    return view((_STATEMENT, *inside("of", _DIFFERENCES)), found)


def _result(is_clear: bool) -> Cell:
    if is_clear:
        return tone_cell(tr("different"), "measured")
    return tone_cell(tr("no clear difference"), "undecided")


def _per_call(name: str, title: str, full_title: str) -> Column:
    return written(name, title, _number, full_title=full_title)


def _costs(context: ReportContext) -> Table:
    names = _arms(context)
    columns = (
        written("arm", "Arm", lambda arm: names.get(arm, arm), "heading"),
        _per_call("calls_per_tx", "Calls per tx", "Calls per transaction"),
        written("mean_ms", "Per call", milliseconds, full_title="Execution time per call"),
        _per_call("rows_per_call", "Rows", "Rows per call"),
        _per_call("hit_per_call", "Hit", "Blocks per call found in shared buffers"),
        _per_call("read_per_call", "Read", "Blocks per call read into shared buffers"),
        _per_call(
            "dirtied_per_call", "Dirtied", "Blocks per call that the statement changed first"
        ),
        _per_call("written_per_call", "Written", "Blocks per call written by the session itself"),
        _per_call("temp_blocks_per_call", "Temp", "Temporary blocks per call, read and written"),
        written("wal_bytes_per_call", "WAL", size, full_title="WAL per call"),
        written(
            "waits",
            "Sessions",
            _waits,
            "text",
            full_title="Average sessions that ran it, by wait event",
        ),
    )
    found = _named(context, lambda one: one.by_arm)
    return view((_STATEMENT, *inside("of", columns)), found)


def _waits(waits: Iterable[tuple[str, float]]) -> str:
    return listed(f"{event} {decimals(value, '.2f')}" for event, value in waits if value >= _FEW)


def _number(value: float) -> str:
    if value < _FEW:
        return "0"
    return decimals(value, ".2f") if value < 10 else whole(value)
