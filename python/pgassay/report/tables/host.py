"""A server's host in the columns of vmstat and iostat, for each period.

Enters: windows of time with their names. Leaves: one table for each program, or a list of all.
Never: shows a figure that was not read as zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.host.columns import COLUMNS
from pgassay.analysis.model import Figures, HostWindow
from pgassay.language import Message, clauses, tr
from pgassay.quantities import spaced, with_unit
from pgassay.report.document.blocks import Facts, Group, Heading
from pgassay.report.document.table import Cell, Column, Row, Table, row_of
from pgassay.report.tables.cells import ABSENT, moment


def host_facts(whole: HostWindow | None) -> Iterator[Group]:
    """All of a recording's time: the columns of vmstat, and of iostat for each device, with their
    meaning; nothing where the host was not read."""
    if whole is None:
        return
    yield _facts("vmstat", "vmstat", whole.vmstat)
    for device, figures in whole.iostat.items():
        yield _facts(f"iostat, {device}", "iostat", figures)


def _facts(title: str, program: str, figures: Figures) -> Group:
    rows = [
        (f"{one.column} ({clauses((one.title, one.unit)) if one.unit else one.title})", cell.text)
        for one, cell in zip(COLUMNS[program], _figures(figures, program), strict=True)
        if cell.value is not None
    ]
    return Group((Heading(title), Facts(rows)))


def host_tables_over_time(
    windows: Sequence[HostWindow], whole: HostWindow | None
) -> tuple[Table, ...]:
    """Each period, and all of them; nothing where the host was not read."""
    rows = [(moment(window.start_ns), window) for window in windows]
    return _tables(tr("From (UTC)"), rows, whole)


def _tables(
    title: str, windows: Sequence[tuple[str, HostWindow]], whole: HostWindow | None = None
) -> tuple[Table, ...]:
    every = [(name, window, "") for name, window in windows]
    if whole is not None and len(windows) > 1:
        every.append(("all", whole, "whole"))
    first = Column(title, "heading", merges=True)
    vmstat = [
        row_of((name, *_figures(window.vmstat, "vmstat")), style) for name, window, style in every
    ]
    iostat = [
        row_of((name, device, *_figures(figures, "iostat")), style)
        for name, window, style in every
        for device, figures in window.iostat.items()
    ]
    return (
        *_table("vmstat", (first,), vmstat),
        *_table("iostat", (first, Column(Message("Device"), "text")), iostat),
    )


def _table(program: str, names: tuple[Column, ...], rows: Sequence[Row]) -> tuple[Table, ...]:
    """One table; none where no figure was read."""
    if all(cell.value is None for row in rows for cell in row.cells[len(names) :]):
        return ()
    columns = (Column(c.column, full_title=with_unit(c.title, c.unit)) for c in COLUMNS[program])
    return (Table((*names, *columns), tuple(rows), "host", program),)


def _figures(figures: Figures, program: str) -> tuple[Cell, ...]:
    values = ((figures[c.column], c.digits) for c in COLUMNS[program])
    return tuple(
        Cell(ABSENT if value is None else spaced(value, digits), value=value)
        for value, digits in values
    )
