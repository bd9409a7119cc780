"""The database's part of the classic view: speed, waits, shared buffers, trends, correlations.

Enters: the classic view. Leaves: tables. Never: computes a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pgassay.analysis.classic.model import (
    ClassicArm,
    ClassicCorrelation,
    ClassicTrend,
    Spread,
)
from pgassay.language import Message, colon, decimals, tr
from pgassay.quantities import plain_number, signed_percent
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.sections.classic.cells import (
    NOT_MEASURED,
    WORDS,
    Shown,
    agreement,
    disk_of,
    labelled,
    r_text,
    series_name,
)
from pgassay.report.tables.cells import ABSENT, interval

_THOUSAND = 1000.0
_OF_THE_HOST = ("wa", "b")
_ELSEWHERE = ("r", "swap_kb", "changed")
_PAIR = (
    Column(Message("Pair"), "heading", merges=True, name="pair"),
    Column(Message("Arm"), "line"),
    Column(Message("Classic r")),
    Column(Message("Classic label"), "line"),
    Column(Message("Tested r")),
    Column(Message("95\xa0% interval")),
    Column(Message("Do they agree?"), "text"),
)
_TREND = (
    Column(Message("Series"), "heading", merges=True),
    Column(Message("Arm"), "line"),
    Column(Message("R²")),
    Column(Message("Classic label"), "line"),
    Column(Message("Angle")),
    Column(Message("Change, beginning to end")),
    Column(Message("95\xa0% interval")),
    Column(Message("Do they agree?"), "text"),
)


def figure_table(shown: Shown) -> Table:
    """Makes a table of speed, waits and shared buffers, without wait types that no arm had."""
    rows = [
        (WORDS["figures"][name], shown.of_arms(_spread(name)))
        for name in (one.name for one in shown.view.arms[0].figures if one.name not in _ELSEWHERE)
        if any(_worth_a_row(arm, name) for arm in shown.view.arms)
    ]
    titles = WORDS["figures"]
    rows[1:1] = [(titles["statements"], shown.of_arms(_statements))]
    rows += [
        (titles["incident"], shown.of_arms(_incident)),
        (
            titles["hit"],
            shown.of_arms(lambda a: labelled(a.buffers.hit_pct, "{:.1f} %", a.buffers.label)),
        ),
        (titles["used"], shown.of_arms(_used)),
        (titles["load"], shown.of_arms(lambda arm: arm.buffers.load or NOT_MEASURED)),
        (titles["changed"], shown.of_arms(_spread("changed"))),
    ]
    return shown.side_by_side(tr("Median of the intervals (smallest to largest)"), rows)


def _of(arm: ClassicArm, name: str) -> Spread:
    return next(one for one in arm.figures if one.name == name)


def _worth_a_row(arm: ClassicArm, name: str) -> bool:
    found = _of(arm, name)
    return found.largest != 0.0 or name in ("speed", "commits", "WAITINGS")


def _spread(name: str) -> Callable[[ClassicArm], str]:
    def text(arm: ClassicArm) -> str:
        found = _of(arm, name)
        if found.median is None or found.smallest is None or found.largest is None:
            return NOT_MEASURED
        per = _THOUSAND if name == "speed" else 1.0
        digits = 2 if found.unit in ("sessions", "rows") else 0
        low, middle, high = (
            decimals(value, f".{digits}f") if digits else plain_number(value)
            for value in (found.smallest / per, found.median / per, found.largest / per)
        )
        return tr("{middle} ({low} to {high})", middle=middle, low=low, high=high)

    return text


def _statements(arm: ClassicArm) -> str:
    known = arm.statements_per_minute
    return NOT_MEASURED if known is None else plain_number(known / _THOUSAND)


def _incident(arm: ClassicArm) -> str:
    if arm.incident is None:
        return NOT_MEASURED
    return tr("yes") if arm.incident else tr("no")


def _used(arm: ClassicArm) -> str:
    if arm.buffers.used_per_dirtied is None:
        return NOT_MEASURED if arm.buffers.load is None else tr("nothing dirtied")
    return plain_number(arm.buffers.used_per_dirtied)


def correlation_table(shown: Shown, *groups: str, disk: str = "") -> Table:
    """Makes a table of pairs of series, without pairs of which one never varied."""
    rows = [
        _pair(arm, one)
        for arm, one in _correlations(shown)
        if one.group in groups and disk_of(one.second) == disk
    ]
    return _correlation_table(rows)


def claimed_correlations(shown: Shown) -> tuple[Table, int]:
    """Makes a table of the correlations that are claimed or missed; counts the others."""
    rows = list(_correlations(shown))
    claimed = [(arm, one) for arm, one in rows if one.claims or one.agreement is not None]
    pairs = [_pair(arm, one, disk_of(one.second)) for arm, one in claimed]
    return _correlation_table(pairs), len(rows) - len(claimed)


def _correlation_table(rows: Sequence[Sequence[str | Cell]]) -> Table:
    return replace(table(_PAIR, rows), style="host", label=tr("Classic correlations"))


def _correlations(shown: Shown) -> Iterator[tuple[str, ClassicCorrelation]]:
    """Yields the correlations of which both series varied, with the names of their arms."""
    for rows in zip(*(arm.correlations for arm in shown.view.arms), strict=True):
        if all(row.r == 0.0 for row in rows):
            continue
        for arm, row in zip(shown.view.arms, rows, strict=True):
            yield shown.short(arm.arm), row


def _pair(arm: str, one: ClassicCorrelation, disk: str = "") -> tuple[str | Cell, ...]:
    ends = ABSENT if one.ci95 is None else tr(" to ").join(map(r_text, one.ci95))
    return (
        tr(
            "{disk}{colon}{first} and {second}",
            disk=disk,
            colon=colon() if disk else "",
            first=series_name(one.first),
            second=series_name(one.second),
        ),
        arm,
        r_text(one.r),
        one.label or ABSENT,
        ABSENT if one.honest_r is None else r_text(one.honest_r),
        ends,
        agreement(one.agreement, one.label),
    )


def trend_table(shown: Shown, disk: str = "", *, host: bool = False) -> Table:
    """Makes a table of the trends of the database, of the host, or of a disk."""
    rows = [
        _trend(arm, one)
        for arm, one in _trends(shown)
        if disk_of(one.series) == disk and (disk or host == (one.series in _OF_THE_HOST))
    ]
    return _table_of_trends(rows)


def claimed_trends(shown: Shown) -> tuple[Table, int]:
    """Makes a table of the trends that are claimed; counts the others."""
    rows = list(_trends(shown))
    claimed = [_trend(arm, one, disk_of(one.series)) for arm, one in rows if one.claims]
    return _table_of_trends(claimed), len(rows) - len(claimed)


def _table_of_trends(rows: Sequence[Sequence[str | Cell]]) -> Table:
    return replace(table(_TREND, rows), style="host", label=tr("Classic trends"))


def _trends(shown: Shown) -> Iterator[tuple[str, ClassicTrend]]:
    """Yields the trends of series that varied, with the names of their arms."""
    for lines in zip(*(arm.trends for arm in shown.view.arms), strict=True):
        if all(one.r2 == 0.0 for one in lines):
            continue
        for arm, one in zip(shown.view.arms, lines, strict=True):
            yield shown.short(arm.arm), one


def _trend(arm: str, one: ClassicTrend, disk: str = "") -> tuple[str | Cell, ...]:
    return (
        f"{disk}{colon() if disk else ''}{series_name(one.series)}",
        arm,
        NOT_MEASURED if one.r2 is None else decimals(one.r2, ".2f"),
        one.label or ABSENT,
        ABSENT if one.angle_deg is None else f"{decimals(one.angle_deg, '+.1f')}°",
        ABSENT if one.change_pct is None else signed_percent(one.change_pct),
        interval(one.ci95_pct),
        agreement(one.agreement, one.label),
    )
