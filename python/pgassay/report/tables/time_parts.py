"""The parts of a transaction's time: two arms side by side, and every arm for itself.

Enters: the context. Leaves: tables whose rows sum, as they are shown, to their last row.
Never: computes an estimate; what rounding changes goes to the part that is unaccounted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pgassay.analysis.compare.model import Accounting, TimePart
from pgassay.analysis.reading.metrics import UNACCOUNTED
from pgassay.findings.wording import share_interval
from pgassay.language import Message, decimals, tr
from pgassay.quantities import milliseconds, signed_milliseconds, time_digits
from pgassay.report.charts.style import CLASS_COLOURS, GREY
from pgassay.report.charts.waits import mean_of, present_classes
from pgassay.report.context import ReportContext
from pgassay.report.document.table import Cell, Column, Row, Table, row_of
from pgassay.report.tables.by_arm import arm_table
from pgassay.report.tables.cells import ABSENT, INTERVAL, valued

WHOLE = Message("Transaction")
_LEAST = 0.005
"""Share of the whole below which a part is shown with others in one row."""
FOLDED = Message("Other parts, each below 0.5 %")
_COLUMNS = (
    Column(Message("Part"), "heading"),
    Column(Message("Level compared"), "group", name="level"),
    Column(Message("Baseline"), name="baseline_ms"),
    Column(Message("Level"), name="level_ms"),
    Column(Message("Change"), name="difference_ms"),
    Column(INTERVAL, name="ci95_ms"),
    Column(Message("Share of the change"), name="share_pct"),
)
_SHORT = tuple(
    replace(one, full_title=Message("Change, with its 95 % interval where it is clear"))
    if one.name == "difference_ms"
    else one
    for one in _COLUMNS
)


def accounting_table(context: ReportContext, *, is_short: bool = False) -> Table:
    """The parts of each level and its baseline.

    The short table has no shares, and intervals only beside changes that are clear; the other has
    shares where any whole change is clear.
    """
    rows = [row for one in context.analysis.answer.accounting for row in _rows(one, is_short)]
    made = Table(_SHORT if is_short else _COLUMNS, tuple(rows))
    return made.only_if(
        level=context.has_several_levels, ci95_ms=not is_short, share_pct=not is_short
    ).filled("ci95_ms", "share_pct")


def folded(one: Accounting) -> tuple[list[TimePart], list[TimePart]]:
    """The parts before the last one: those shown each, and those shown as one sum."""
    *others, _ = one.parts
    least = _LEAST * max(one.whole.baseline_ms, one.whole.level_ms)
    # The part of parallel workers is below zero: its size counts, not its sign.
    small = [p for p in others if max(abs(p.baseline_ms), abs(p.level_ms)) < least]
    small = small if len(small) > 1 else []
    return [part for part in others if part not in small], small


def _rows(one: Accounting, is_short: bool) -> list[Row]:
    rest = one.parts[-1]
    shown, small = folded(one)
    columns = [
        (
            *(getattr(part, name) for part in shown),
            *([sum(getattr(part, name) for part in small)] if small else []),
        )
        for name in ("baseline_ms", "level_ms")
    ]
    digits = time_digits(max(one.whole.baseline_ms, one.whole.level_ms))
    baseline, level = (
        summing(values, getattr(one.whole, name), digits)
        for values, name in zip(columns, ("baseline_ms", "level_ms"), strict=True)
    )
    shares = _shares(shown, small, one)
    subject = f"{one.factor} = {one.level}"

    def interval(ends: Iterable[float]) -> str:
        return tr(" to ").join(signed_milliseconds(end, digits) for end in ends)

    parts: list[TimePart | None] = [*shown, *([None] if small else []), rest, one.whole]
    return [
        row_of(
            (
                FOLDED if part is None else part.title,
                subject,
                Cell(milliseconds(before, digits), value=before),
                Cell(milliseconds(after, digits), value=after),
                Cell(
                    signed_milliseconds(after - before, digits),
                    note=interval(part.ci95_ms or ())
                    if is_short and part and part.is_clear
                    else "",
                    value=after - before,
                ),
                valued(part and part.ci95_ms, interval),
                share,
            ),
            "whole" if part is one.whole else "",
        )
        for part, before, after, share in zip(parts, baseline, level, shares, strict=True)
    ]


def _shares(shown: Sequence[TimePart], small: Sequence[TimePart], one: Accounting) -> list[Cell]:
    """Each with its interval; dashes where the whole difference is not clear."""
    known = [part.share_pct for part in one.parts]
    if None in known:
        return [Cell(ABSENT)] * (len(shown) + bool(small) + 2)
    values = [part.share_pct or 0.0 for part in shown]
    if small:
        values.append(sum(part.share_pct or 0.0 for part in small))
    intervals = [*map(share_interval, shown), *([""] if small else [])]
    return [
        Cell(f"{decimals(value, '.0f')} %{interval}".replace("-", "\u2212"), value=value)
        for value, interval in zip(
            summing(values, 100.0, digits=0),
            (*intervals, share_interval(one.parts[-1]), ""),
            strict=True,
        )
    ]


def class_table(context: ReportContext) -> Table:
    """The chart's legend, with the numbers of every arm and their sum."""
    parts = present_classes(context.analysis)
    if not parts:
        return arm_table(context, tr("Per transaction"), ())
    others = [part for part in parts if part is not UNACCOUNTED]
    every = [[mean_of(arm, part) for part in others] for arm in context.analysis.answer.arms]
    wholes = [
        sum(values) + mean_of(arm, UNACCOUNTED)
        for values, arm in zip(every, context.analysis.answer.arms, strict=True)
    ]
    digits = time_digits(max(wholes))
    columns = [summing(*pair, digits) for pair in zip(every, wholes, strict=True)]
    named = [
        *(Cell(part.title, swatch=CLASS_COLOURS.get(part.name, GREY)) for part in others),
        Cell(UNACCOUNTED.title, swatch=CLASS_COLOURS[UNACCOUNTED.name]),
        Cell(WHOLE),
    ]
    return arm_table(
        context,
        tr("Per transaction"),
        [
            (name, [Cell(milliseconds(c[at], digits), value=c[at]) for c in columns])
            for at, name in enumerate(named)
        ],
    )


def summing(values: Sequence[float], whole: float, digits: int) -> tuple[float, ...]:
    """Values as they are shown, what they leave of the whole, and the whole."""
    shown = [round(value, digits) + 0.0 for value in values]
    total = round(whole, digits)
    return *shown, round(total - sum(shown), digits) + 0.0, total
