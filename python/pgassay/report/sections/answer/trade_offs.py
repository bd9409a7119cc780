"""Levels weighed by several criteria, where these disagree or levels are three or more.

Enters: the context. Leaves: a table and sentences for each factor. Never: weighs criteria, or
computes an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.trade_offs.model import Criterion, LevelFigure, TradeOff
from pgassay.findings.answer.trade_offs import rule_of
from pgassay.findings.wording import quantity
from pgassay.language import Message, listed, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Heading, Paragraph, note
from pgassay.report.document.section import Blocks, differing, section
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, with_interval

sentence = texts_of(__name__)


@section("answer/trade_offs", "Trade-offs")
def trade_offs(context: ReportContext) -> Blocks:
    """Shows the levels of each factor by criterion; yields nothing where none has to be weighed."""
    weighed = [one for one in context.analysis.answer.trade_offs if one.matters]
    if weighed and not any(one.disagree for one in weighed):
        criteria = [(one, each) for one in weighed for each in one.criteria]
        differ = sum(_decides(one, each) for one, each in criteria)
        yield differing("report/sections/criteria", len(criteria), differ)
    for one in weighed:
        yield Heading(one.factor) if len(weighed) > 1 else None
        yield from (Paragraph(text, "observed") for text in context.sentences(rule_of(one)))
        yield trade_off_table(one, [each for each in one.criteria if _decides(one, each)])
        others = [each for each in one.criteria if not _decides(one, each)]
        if others:
            made = trade_off_table(one, others)
            yield Fold(tr("Criteria without a clear difference"), [made], in_text=True)
    if weighed:
        yield note(sentence("means_of_the_trials"))


def _decides(one: TradeOff, criterion: Criterion) -> bool:
    """Whether some level is clearly better than another by it."""
    return len(criterion.best) < len(one.levels)


def trade_off_table(one: TradeOff, criteria: Sequence[Criterion]) -> Table:
    """Makes a table of a row for each criterion, a column for each level, the best in the last."""
    columns = (
        Column(Message("Criterion"), "heading", name="criterion"),
        *(Column(level, full_title=f"{one.factor} = {level}") for level in one.levels),
        Column(Message("Best"), "text", name="best"),
    )
    made = table(columns, [_row(one, each) for each in criteria])
    return replace(made, label=tr("Levels of {factor} by criterion", factor=one.factor))


def _row(one: TradeOff, criterion: Criterion) -> tuple[str | Cell, ...]:
    by_level = {figure.level: figure for figure in criterion.figures}
    shown = [
        _cell(criterion, by_level[level]) if level in by_level else Cell(ABSENT)
        for level in one.levels
    ]
    return (criterion.title, *shown, _best(one, criterion))


def _best(one: TradeOff, criterion: Criterion) -> str:
    if not _decides(one, criterion):
        return ABSENT
    if criterion.in_order:
        return listed(criterion.best)
    return tr(
        "not {list}", list=listed(level for level in one.levels if level not in criterion.best)
    )


def _cell(criterion: Criterion, figure: LevelFigure) -> Cell:
    text = quantity(figure.mean, METRICS[criterion.metric]) if figure.mean else "0"
    if figure.effect_pct is None:
        return Cell(text, value=figure.mean)
    style = figure.standing if figure.standing in ("better", "worse") else ""
    beside = with_interval(figure.effect_pct, figure.ci95_pct)
    return Cell(text, style, note=beside, value=figure.mean)
