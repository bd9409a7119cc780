"""A table of a report as a value: shown by HTML, Markdown and the brief, written by CSV and XLSX.

Enters: columns, and facts or cells. Leaves: frozen tables. Never: holds markup, rounds a raw value,
or gives a spreadsheet one that it cannot hold: what is not finite is absent, and characters that
cannot be seen are written out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import reduce
from itertools import compress
from typing import Any, Literal

from pgassay.analysis.reading.plain_text import visible
from pgassay.language import Message

Value = str | int | float | bool | datetime | None
"""What a spreadsheet's cell can hold."""


class Absent(str):
    """What a cell shows that has no value."""

    __slots__ = ()

    def __str__(self) -> str:
        return self


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, and the raw value that it stands for."""

    text: str = ""
    style: str = ""
    """Class names of style.css: a verdict's tone, a face."""
    swatch: str = ""
    """A colour that a chart uses for the same thing."""
    note: str = ""
    """A second line in small type."""
    value: Any = None
    """Unrounded, in the column's unit, an interval as its two ends. CSV and XLSX write that of a
    table of data (report/data_tables), and never that of a table that is shown."""

    @property
    def is_filled(self) -> bool:
        """Whether it shows anything but that a value is absent."""
        return bool(self.note or (self.text and not isinstance(self.text, Absent)))


Form = Literal["heading", "text", "line", "number", "group"]


@dataclass(frozen=True)
class Column:
    """A column; its form says how HTML sets it."""

    title: str
    form: Form = "number"
    """`heading` names the row; a `line` is text that does not wrap; a `group` names several rows
    and stands above them in HTML."""
    merges: bool = False
    """A cell that repeats the one above it is left out in HTML."""
    full_title: str = ""
    """Shown by Markdown in place of the title, and by HTML where the pointer rests."""
    name: str = ""
    """What code calls it, and CSV and XLSX call a column of data, with its unit if it has one; in a
    view the attribute of a fact that its raw value is, such as `effect_pct` or
    `estimate.effect_pct`."""
    unit: str = ""
    meaning: str = ""
    path: str = ""
    """Of a column of data: where a fact has its value, such as `estimate.ci95_pct.0`."""
    show: Callable[[Any], str | Cell] = str
    """Writes a fact in it."""

    def cell(self, fact: Any) -> Cell:
        """What the column shows of a fact, with the raw value: its name's, if it gives no other."""
        shown = self.show(fact)
        cell = shown if isinstance(shown, Cell) else Cell(shown)
        return cell if cell.value is not None else replace(cell, value=raw(fact, self.name))


@dataclass(frozen=True)
class Row:
    """The cells of one row, one for each column."""

    cells: tuple[Cell, ...]
    style: str = ""

    def __getitem__(self, at: int) -> str:
        return self.cells[at].text


@dataclass(frozen=True)
class Table:
    """Columns and rows."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    style: str = ""
    label: str = ""
    """Read out by screen readers for a table that scrolls."""
    name: str = ""
    """Of a table of data: its file or sheet."""
    title: str = ""
    """Of a table of data: what it holds."""

    def __bool__(self) -> bool:
        return bool(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def values(self) -> Iterator[tuple[Value, ...]]:
        """The raw values as a spreadsheet can hold them, row by row."""
        return (tuple(plain(cell.value) for cell in row.cells) for row in self.rows)

    def column(self, name: str) -> tuple[str, ...]:
        """Returns the texts of one column."""
        at = [column.name for column in self.columns].index(name)
        return tuple(row[at] for row in self.rows)

    def only_if(self, **shown: object) -> Table:
        """Return the table without the named columns whose argument is false."""
        return self._of([c.name not in shown or bool(shown[c.name]) for c in self.columns])

    def without_zeros(self) -> tuple[Table, tuple[Row, ...]]:
        """Returns the table without rows of which every figure is zero, and those rows."""
        at = [at for at, column in enumerate(self.columns) if column.form == "number"]
        zeros = [one for one in self.rows if all(one.cells[each].value == 0 for each in at)]
        return replace(self, rows=tuple(one for one in self.rows if one not in zeros)), tuple(zeros)

    def ungrouped(self) -> Table:
        """What HTML shows beneath the names of groups."""
        return self._of([column.form != "group" for column in self.columns])

    def filled(self, *names: str) -> Table:
        """Return the table without columns whose cells show nothing, or that it is absent.

        If names are given, only columns with these names are left out.
        """
        return self._of(
            [
                bool(names and column.name not in names)
                or any(one.cells[at].is_filled for one in self.rows)
                for at, column in enumerate(self.columns)
            ]
        )

    def _of(self, kept: Sequence[bool]) -> Table:
        """Return the table with the columns that are kept."""
        rows = (replace(one, cells=tuple(compress(one.cells, kept))) for one in self.rows)
        return replace(self, columns=tuple(compress(self.columns, kept)), rows=tuple(rows))

    def grouped(self, *, merges: bool = True) -> Iterator[tuple[str, Row]]:
        """(the name of a group that begins here, or nothing; a row of `ungrouped`).

        With `merges`, cells that repeat those above are left out of columns that merge.
        """
        at = next((at for at, c in enumerate(self.columns) if c.form == "group"), None)
        own = self.ungrouped()
        groups = [Cell() if at is None else row.cells[at] for row in self.rows]
        for number, row in enumerate(own.rows):
            begins = not number or groups[number] != groups[number - 1]
            above = own.rows[number - 1] if merges and not begins else None
            yield groups[number].text if begins else "", own._merged(row, above)

    def _merged(self, row: Row, above: Row | None) -> Row:
        if above is None:
            return row
        cells = (
            replace(cell, text="") if column.merges and cell == other else cell
            for column, cell, other in zip(self.columns, row.cells, above.cells, strict=True)
        )
        return replace(row, cells=tuple(cells))


def numbers(*titles: str) -> tuple[Column, ...]:
    """Makes columns of figures; their titles are messages."""
    return tuple(Column(_message(title)) for title in titles)


def column(
    name: str,
    title: str,
    show: Callable[[Any], str | Cell],
    form: Form = "number",
    *,
    merges: bool = False,
    full_title: str = "",
) -> Column:
    """Makes a column of facts; its titles are messages."""
    full = _message(full_title) if full_title else ""
    return Column(_message(title), form, merges, full, name, show=show)


def _message(title: str) -> str:
    return title if isinstance(title, Message) else Message(title)


def view(
    columns: Sequence[Column],
    facts: Iterable[Any],
    label: str = "",
    style: Callable[[Any], str] = lambda _: "",
) -> Table:
    """A table with a row for each fact, written as its columns say; `style` is of its rows."""
    rows = (Row(tuple(one.cell(fact) for one in columns), style(fact)) for fact in facts)
    return Table(tuple(columns), tuple(rows), label=label)


def table(columns: Sequence[Column], rows: Sequence[Sequence[str | Cell]]) -> Table:
    """A table of rows without a style."""
    return Table(tuple(columns), tuple(row_of(cells) for cells in rows))


def row_of(cells: Sequence[str | Cell], style: str = "") -> Row:
    """A row of texts, some of them with a style."""
    made = (cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)
    return Row(tuple(made), style)


def data_column(name: str, unit: str, meaning: str, path: str = "") -> Column:
    """A column of a table of data; facts have its value by its name if no path is given."""
    return Column(name, name=name, unit=unit, meaning=meaning, path=path or name)


def raw(fact: Any, path: str) -> Any:
    """What is `found` in a fact, None where there is nothing."""
    try:
        return found(fact, path)
    except (AttributeError, KeyError):
        return None


def found(fact: Any, path: str) -> Any:
    """The attribute, key or place of a fact, or of a part of it, such as `estimate.ci95_pct.0`.

    None where a part is None. Keys may have points.
    """
    if isinstance(fact, Mapping) and path in fact:
        return fact[path]
    return reduce(_part, path.split("."), fact)


def _part(of: Any, name: str) -> Any:
    match of:
        case None:
            return None
        case Mapping():
            return of[name]
        case tuple():
            return of[int(name)]
        case _:
            return getattr(of, name)


def plain(value: Any) -> Value:
    """A value as a spreadsheet can hold it."""
    match value:
        case None | bool() | int() | datetime():
            return value
        case float():
            return float(value) if math.isfinite(value) else None
        case Enum():
            return visible(str(value.value))
        case list() | tuple():
            return "; ".join(str(plain(one)) for one in value)
        case _:
            return visible(str(value))
