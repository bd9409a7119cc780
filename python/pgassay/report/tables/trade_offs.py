"""Levels × criteria, as a table.

Enters: trade-offs. Leaves: a table for each factor. Never: computes an estimate.
"""

from __future__ import annotations

from dataclasses import replace

from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.trade_offs.model import Criterion, LevelFigure, TradeOff
from pgassay.findings.wording import quantity
from pgassay.language import Message, listed, tr
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.tables.cells import ABSENT, with_interval


def trade_off_table(one: TradeOff) -> Table:
    """A row for each criterion, a column for each level, the best ones in the last."""
    columns = (
        Column(Message("Criterion"), "heading"),
        *(Column(level, full_title=f"{one.factor} = {level}") for level in one.levels),
        Column(Message("Best"), "text"),
    )
    made = table(columns, [_row(one, each) for each in one.criteria])
    return replace(made, label=tr("Levels of {factor} by criterion", factor=one.factor))


def _row(one: TradeOff, criterion: Criterion) -> tuple[str | Cell, ...]:
    by_level = {figure.level: figure for figure in criterion.figures}
    shown = [
        _cell(criterion, by_level[level]) if level in by_level else Cell(ABSENT)
        for level in one.levels
    ]
    return (criterion.title, *shown, _best(one, criterion))


def _best(one: TradeOff, criterion: Criterion) -> str:
    if len(criterion.best) == len(one.levels):
        return ABSENT
    if criterion.in_order:
        return listed(criterion.best)
    return tr(
        "not {list}", list=listed(level for level in one.levels if level not in criterion.best)
    )


def _cell(criterion: Criterion, figure: LevelFigure) -> Cell:
    text = quantity(figure.mean, METRICS[criterion.metric]) if figure.mean else "0"
    if figure.effect_pct is None:
        return Cell(text)
    style = figure.standing if figure.standing in ("better", "worse") else ""
    return Cell(text, style=style, note=with_interval(figure.effect_pct, figure.ci95_pct))
