"""The database's part of the classic view: speed, waits, shared buffers, trends, correlations.

Enters: the classic view. Leaves: tables. Never: computes a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pgassay.analysis.classic.model import (
    ClassicArm,
    ClassicCorrelation,
    ClassicTrend,
    Spread,
)
from pgassay.language import colon, decimals, tr
from pgassay.quantities import plain_number, signed
from pgassay.report.document.table import Cell, Table, column, view
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
from pgassay.report.tables.cells import ABSENT, INTERVAL, valued, written

_THOUSAND = 1000.0
_OF_THE_HOST = ("wa", "b")
_ELSEWHERE = ("r", "swap_kb", "changed")


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


def _spread(name: str) -> Callable[[ClassicArm], str | Cell]:
    def cell(arm: ClassicArm) -> str | Cell:
        found = _of(arm, name)
        if found.median is None or found.smallest is None or found.largest is None:
            return NOT_MEASURED
        per = _THOUSAND if name == "speed" else 1.0
        digits = 2 if found.unit in ("sessions", "rows") else 0
        low, middle, high = (
            decimals(value, f".{digits}f") if digits else plain_number(value)
            for value in (found.smallest / per, found.median / per, found.largest / per)
        )
        text = tr("{middle} ({low} to {high})", middle=middle, low=low, high=high)
        return Cell(text, value=found.median)

    return cell


def _statements(arm: ClassicArm) -> str | Cell:
    known = arm.statements_per_minute
    return NOT_MEASURED if known is None else Cell(plain_number(known / _THOUSAND), value=known)


def _incident(arm: ClassicArm) -> str:
    if arm.incident is None:
        return NOT_MEASURED
    return tr("yes") if arm.incident else tr("no")


def _used(arm: ClassicArm) -> str | Cell:
    if arm.buffers.used_per_dirtied is None:
        return NOT_MEASURED if arm.buffers.load is None else tr("nothing dirtied")
    return valued(arm.buffers.used_per_dirtied, plain_number)


def correlation_table(shown: Shown, *groups: str, disk: str = "") -> Table:
    """Makes a table of pairs of series, without pairs of which one never varied."""
    return _correlation_table(
        [
            {"arm": arm, "of": one, "disk": ""}
            for arm, one in _correlations(shown)
            if one.group in groups and disk_of(one.second) == disk
        ],
        _database_or(disk or ("" if "database" in groups else "vmstat")),
    )


def claimed_correlations(shown: Shown) -> tuple[Table, int]:
    """Makes a table of the correlations that are claimed or missed; counts the others."""
    rows = list(_correlations(shown))
    claimed = [(arm, one) for arm, one in rows if one.claims or one.agreement is not None]
    pairs = [{"arm": arm, "of": one, "disk": disk_of(one.second)} for arm, one in claimed]
    return _correlation_table(pairs, tr("what is claimed")), len(rows) - len(claimed)


def _correlation_table(rows: Sequence[Mapping[str, Any]], of: str) -> Table:
    return replace(view(_PAIR, rows, tr("Classic correlations: {of}", of=of)), style="host")


def _database_or(other: str) -> str:
    """What a table is of; labels of a page differ, since screen readers list them."""
    return other or tr("database")


def _correlations(shown: Shown) -> Iterator[tuple[str, ClassicCorrelation]]:
    """Yields the correlations of which both series varied, with the names of their arms."""
    for rows in zip(*(arm.correlations for arm in shown.view.arms), strict=True):
        if all(row.r == 0.0 for row in rows):
            continue
        for arm, row in zip(shown.view.arms, rows, strict=True):
            yield shown.short(arm.arm), row


def _pair(row: Mapping[str, Any]) -> str:
    return tr(
        "{disk}{colon}{first} and {second}",
        disk=row["disk"],
        colon=colon() if row["disk"] else "",
        first=series_name(row["of"].first),
        second=series_name(row["of"].second),
    )


def trend_table(shown: Shown, disk: str = "", *, host: bool = False) -> Table:
    """Makes a table of the trends of the database, of the host, or of a disk."""
    rows = [
        {"arm": arm, "of": one, "disk": ""}
        for arm, one in _trends(shown)
        if disk_of(one.series) == disk and (disk or host == (one.series in _OF_THE_HOST))
    ]
    return _table_of_trends(rows, _database_or(disk or ("vmstat" if host else "")))


def claimed_trends(shown: Shown) -> tuple[Table, int]:
    """Makes a table of the trends that are claimed; counts the others."""
    rows = list(_trends(shown))
    claimed = [
        {"arm": arm, "of": one, "disk": disk_of(one.series)} for arm, one in rows if one.claims
    ]
    return _table_of_trends(claimed, tr("what is claimed")), len(rows) - len(claimed)


def _table_of_trends(rows: Sequence[Mapping[str, Any]], of: str) -> Table:
    return replace(view(_TREND, rows, tr("Classic trends: {of}", of=of)), style="host")


def _trends(shown: Shown) -> Iterator[tuple[str, ClassicTrend]]:
    """Yields the trends of series that varied, with the names of their arms."""
    for lines in zip(*(arm.trends for arm in shown.view.arms), strict=True):
        if all(one.r2 == 0.0 for one in lines):
            continue
        for arm, one in zip(shown.view.arms, lines, strict=True):
            yield shown.short(arm.arm), one


def _series(row: Mapping[str, Any]) -> str:
    return f"{row['disk']}{colon() if row['disk'] else ''}{series_name(row['of'].series)}"


_ARM = written("arm", "Arm", str, "line")
_LABEL = column("of.label", "Classic label", lambda row: row["of"].label or ABSENT, "line")
_AGREE = column(
    "of.agreement",
    "Do they agree?",
    lambda row: agreement(row["of"].agreement, row["of"].label),
    "text",
)
_PAIR = (
    column("pair", "Pair", _pair, "heading", merges=True),
    _ARM,
    column("of.r", "Classic r", lambda row: r_text(row["of"].r)),
    _LABEL,
    written("of.honest_r", "Tested r", r_text),
    written("of.ci95", INTERVAL, lambda ends: tr(" to ").join(map(r_text, ends))),
    _AGREE,
)
_TREND = (
    column("series", "Series", _series, "heading", merges=True),
    _ARM,
    column("of.r2", "R²", lambda row: labelled(row["of"].r2, "{:.2f}", "")),
    _LABEL,
    written("of.angle_deg", "Angle", lambda angle: f"{decimals(angle, '+.1f')}°"),
    written("of.change_pct", "Change, beginning to end, % of the mean", signed),
    written("of.ci95_pct", INTERVAL, lambda ends: tr(" to ").join(map(signed, ends))),
    _AGREE,
)
