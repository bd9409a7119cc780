"""A server's host in the columns of vmstat and iostat, a row for each arm or stretch of time.

Enters: windows with the words they go by. Leaves: a table for each program, as strings.
Never: shows what was not read as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.analysis.host_columns import COLUMNS, Column
from pgassay.analysis.host_windows import by_arm
from pgassay.analysis.model import Figures, HostWindow
from pgassay.report.charts.observed import moment
from pgassay.report.context import ReportContext
from pgassay.report.tables import ABSENT

_WHOLE = "all"


@dataclass(frozen=True)
class HostRow:
    """One row, and the device it is of, if it is of one."""

    title: str
    device: str
    figures: tuple[str, ...]
    is_whole: bool = False


@dataclass(frozen=True)
class HostTable:
    """One program's columns, and what the host did."""

    program: str
    of: str
    """What a row stands for."""
    columns: tuple[Column, ...]
    rows: tuple[HostRow, ...]
    has_devices: bool


def host_tables_of_run(context: ReportContext) -> tuple[HostTable, ...]:
    """The mean of each arm's trials over their measured time."""
    found = by_arm([(trial.arm, trial.host) for trial in context.analysis.trials])
    rows = [(arm.label, found[arm.id]) for arm in context.analysis.arms if arm.id in found]
    return _tables("Arm", rows)


def host_tables_over_time(
    windows: Sequence[HostWindow], whole: HostWindow | None
) -> tuple[HostTable, ...]:
    """Stretches of time, and all of it; nothing where the host was not read."""
    rows = [(moment(window.start_ns)[:19], window) for window in windows]
    return _tables("From (UTC)", rows, whole)


def _tables(
    of: str, rows: Sequence[tuple[str, HostWindow]], whole: HostWindow | None = None
) -> tuple[HostTable, ...]:
    if not rows:
        return ()
    every = [(title, window, False) for title, window in rows]
    if whole is not None and len(rows) > 1:
        every.append((_WHOLE, whole, True))
    vmstat = tuple(
        HostRow(title, "", _figures(window.vmstat, "vmstat"), is_whole)
        for title, window, is_whole in every
    )
    iostat = tuple(
        HostRow(title, device, _figures(figures, "iostat"), is_whole)
        for title, window, is_whole in every
        for device, figures in window.iostat.items()
    )
    tables = (("vmstat", vmstat, False), ("iostat", iostat, True))
    return tuple(
        HostTable(program, of, COLUMNS[program], found, devices)
        for program, found, devices in tables
        if any(figure != ABSENT for row in found for figure in row.figures)
    )


def _figures(figures: Figures, program: str) -> tuple[str, ...]:
    values = ((figures[c.column], c.digits) for c in COLUMNS[program])
    return tuple(ABSENT if value is None else f"{value:,.{digits}f}" for value, digits in values)
