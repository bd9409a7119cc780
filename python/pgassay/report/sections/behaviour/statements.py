"""Statements of the load: time, calls, blocks, WAL and waits of each, by arm.

Enters: the context. Leaves: tables and texts. Never: computes an estimate, or shows a text as
anything but text.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.reading.plain_text import one_line, visible
from pgassay.analysis.statements.model import StatementCosts, StatementUse
from pgassay.language import Message, decimals, listed, ntr, tr
from pgassay.plan.model import ALL_ARMS
from pgassay.quantities import milliseconds, signed_milliseconds, size
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Code, Fold, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, probability, tone_cell, whole

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
        yield Fold(tr("All {n} differences", n=len(differences)), [differences, note(how)])
    what = sentence("blocks_are_pages_of")
    summary = tr("Calls, blocks, WAL and wait events of each statement")
    yield Fold(summary, [_costs(context), note(what)], in_text=True)
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
                f"{milliseconds(costs.ms_per_tx)} ({decimals(costs.share_pct, '.0f')} %)"
                for costs in one.by_arm
            ),
        )
        for one in used
    ]
    return table(
        [Column(Message("Execution time per transaction (share)"), "heading"), *columns], rows
    )


def _differences(context: ReportContext, *, only_clear: bool = False) -> Table:
    columns = (
        tr("Statement"),
        tr("Level"),
        tr("Baseline"),
        tr("Of the level"),
        tr("Difference"),
        tr("95 % interval"),
    )
    found = []
    for one in context.analysis.explanation.statement_use:
        for effect in one.effects:
            if only_clear and not effect.clear:
                continue
            ends = effect.ci95_ms
            found.append(
                (
                    Cell(statement_name(one), style="code"),
                    f"{effect.factor} = {effect.level}",
                    milliseconds(effect.baseline_ms),
                    milliseconds(effect.level_ms),
                    signed_milliseconds(effect.difference_ms),
                    ABSENT if ends is None else tr(" to ").join(map(signed_milliseconds, ends)),
                    probability(effect.p_by),
                    tone_cell(tr("different"), "measured")
                    if effect.clear
                    else tone_cell(tr("no clear difference"), "undecided"),
                )
            )
    forms = [Column(columns[0], "group"), Column(columns[1], "heading")]
    forms += [*map(Column, columns[2:]), Column(Message("BY p")), Column(Message("Result"), "line")]
    return table(forms, found)


_COST_COLUMNS = (
    Column(Message("Statement"), "group"),
    Column(Message("Arm"), "heading"),
    Column(Message("Calls per tx"), full_title=Message("Calls per transaction")),
    Column(Message("Per call"), full_title=Message("Execution time per call")),
    Column(Message("Rows"), full_title=Message("Rows per call")),
    Column(Message("Hit"), full_title=Message("Blocks per call found in shared buffers")),
    Column(Message("Read"), full_title=Message("Blocks per call read into shared buffers")),
    Column(
        Message("Dirtied"), full_title=Message("Blocks per call that the statement changed first")
    ),
    Column(Message("Written"), full_title=Message("Blocks per call written by the session itself")),
    Column(Message("Temp"), full_title=Message("Temporary blocks per call, read and written")),
    Column(Message("WAL"), full_title=Message("WAL per call")),
    Column(
        Message("Sessions"),
        "text",
        full_title=Message("Average sessions that ran it, by wait event"),
    ),
)


def _costs(context: ReportContext) -> Table:
    names = _arms(context)
    rows: list[tuple[str | Cell, ...]] = [
        (Cell(statement_name(one), style="code"), names.get(costs.arm, costs.arm), *_figures(costs))
        for one in context.analysis.explanation.statement_use
        for costs in one.by_arm
    ]
    return table(_COST_COLUMNS, rows)


def _figures(costs: StatementCosts) -> Iterator[str]:
    yield _number(costs.calls_per_tx)
    yield ABSENT if costs.mean_ms is None else milliseconds(costs.mean_ms)
    for value in (
        costs.rows_per_call,
        costs.hit_per_call,
        costs.read_per_call,
        costs.dirtied_per_call,
        costs.written_per_call,
        costs.temp_blocks_per_call,
    ):
        yield _number(value)
    yield size(costs.wal_bytes_per_call)
    yield listed(
        f"{event} {decimals(value, '.2f')}" for event, value in costs.waits if value >= _FEW
    )


def _number(value: float) -> str:
    if value < _FEW:
        return "0"
    return decimals(value, ".2f") if value < 10 else whole(value)
