"""The host's part of the classic view: rules of vmstat, swap, dirty pages, and disks.

Enters: the classic view. Leaves: tables. Never: applies a rule.
"""

from __future__ import annotations

from pgassay.analysis.classic.model import (
    ClassicArm,
    ClassicView,
    DirtyPages,
    DiskType,
    RuleShare,
)
from pgassay.language import colon, decimals, listed, tr
from pgassay.quantities import size
from pgassay.report.document.table import Cell, Table
from pgassay.report.sections.classic.cells import NOT_MEASURED, WORDS, Shown

_UNKNOWN = DiskType("", (), None, None, None)


def host_table(shown: Shown) -> Table:
    """Makes a table of processors, run queue, swap and dirty pages."""
    titles = WORDS["figures"]
    rows = [
        (titles["cores"], shown.of_arms(lambda arm: str(arm.cores or NOT_MEASURED))),
        (titles["r"], shown.of_arms(lambda arm: _spread(arm, "r"))),
        (titles["swap_kb"], shown.of_arms(lambda arm: _spread(arm, "swap_kb"))),
        (titles["dirty"], shown.of_arms(lambda arm: _dirty(arm.dirty))),
        (titles["background"], shown.of_arms(lambda arm: _pct(arm.dirty.background_limit_pct))),
        (titles["limit"], shown.of_arms(lambda arm: _pct(arm.dirty.limit_pct))),
    ]
    return shown.side_by_side(tr("Median of the intervals (smallest to largest)"), rows)


def _spread(arm: ClassicArm, name: str) -> str | Cell:
    one = next(each for each in arm.figures if each.name == name)
    if one.median is None or one.smallest is None or one.largest is None:
        return NOT_MEASURED
    low, middle, high = (
        size(value * 1024) if one.unit == "kB" else decimals(value, ".1f")
        for value in (one.smallest, one.median, one.largest)
    )
    if low != high:
        middle = tr("{middle} ({low} to {high})", middle=middle, low=low, high=high)
    return Cell(middle, value=one.median)


def _dirty(dirty: DirtyPages) -> str | Cell:
    if dirty.kb is None or dirty.largest_kb is None:
        return NOT_MEASURED
    value, largest = (size(kb * 1024) for kb in (dirty.kb, dirty.largest_kb))
    return Cell(tr("{value} (at most {largest})", value=value, largest=largest), value=dirty.kb)


def _pct(value: float | None) -> str | Cell:
    return NOT_MEASURED if value is None else Cell(f"{decimals(value, '.1f')} %", value=value)


def rule_table(shown: Shown, disk: str = "") -> Table:
    """Makes a table of the share of intervals in which each limit was exceeded, with its band."""
    names = dict.fromkeys(
        one.rule for arm in shown.view.arms for one in arm.rules if one.disk == disk
    )
    by_arm = [{(one.disk, one.rule): one for one in arm.rules} for arm in shown.view.arms]
    rows = [(name, [_rule(own.get((disk, name))) for own in by_arm]) for name in names]
    return shown.side_by_side(tr("Share of the intervals"), rows)


def _rule(one: RuleShare | None) -> str | Cell:
    if one is None or one.share_pct is None or one.lowest_pct is None or one.highest_pct is None:
        return NOT_MEASURED
    text = f"{decimals(one.share_pct, '.0f')} % {one.band}"
    if one.lowest_pct != one.highest_pct:
        text = tr(
            "{text} ({lowest_pct} to {highest_pct} %)",
            text=text,
            lowest_pct=decimals(one.lowest_pct, ".0f"),
            highest_pct=decimals(one.highest_pct, ".0f"),
        )
    return Cell(text, value=one.share_pct)


def disks(view: ClassicView) -> dict[str, str]:
    """Maps each disk that any arm was measured on to its name and what lies on it."""
    found: dict[str, str] = {}
    for arm in view.arms:
        for one in arm.disks:
            title = f"{one.disk}{colon()}{listed(one.roles)}" if one.roles else one.disk
            found.setdefault(one.disk, title)
    return found


def disk_table(shown: Shown) -> Table:
    """Makes a table of what bounds each disk, by classic and by tested correlations."""
    rows: list[tuple[str, list[str]]] = []
    for name in dict.fromkeys(one.disk for arm in shown.view.arms for one in arm.disks):
        types = [
            next((each for each in arm.disks if each.disk == name), _UNKNOWN)
            for arm in shown.view.arms
        ]
        rows += [
            (
                tr("{name}: type of the load", name=name),
                [one.load or NOT_MEASURED for one in types],
            ),
            (tr("{name}: limited by", name=name), [one.limit or NOT_MEASURED for one in types]),
            (
                tr("{name}: limited by, tested", name=name),
                [one.honest_limit or WORDS["too_little"] for one in types],
            ),
        ]
    return shown.side_by_side(tr("Disk"), rows)
