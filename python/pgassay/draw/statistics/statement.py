"""A statement that is drawn, and what its parameters are to each other.

Enters: a tree with its meetings, types and tables. Leaves: a `Statement`, its ranges, its values
that must be new. Never: asks a server.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgassay.draw.model import Figures, Role
from pgassay.draw.statements.meetings import Meeting, Met
from pgassay.draw.statements.parsing import Node
from pgassay.draw.statements.scopes import TableName
from pgassay.draw.statistics.catalogue import Table, TableColumn
from pgassay.draw.statistics.constants import Constants
from pgassay.draw.statistics.guesses import can_be_new, has_highest
from pgassay.draw.statistics.preparing import Type
from pgassay.draw.statistics.ranges import Width

_LOWER, _UPPER = {Role.ABOVE, Role.FROM}, {Role.BELOW, Role.UP_TO}
At = tuple[Table, TableColumn]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that is drawn."""

    query_ids: tuple[int, ...]
    """All of its text, most calls first."""
    fingerprint: str
    tree: Node
    met: Met
    source_text: str
    text: str
    """As the server prepares it, with `$n`."""
    types: tuple[Type, ...]
    """Of `$1`, `$2` …."""
    tables: dict[TableName, Table]
    figures: Figures
    elements: int
    """Of an array that a column is looked up in, and rows that LIMIT lets through."""
    width: Width
    constants: Constants
    guesses_lists: bool
    """A list is as long as the rows that the statement gives, for lack of better."""
    keeps: bool
    """An insert that mostly finds its row there, and does something else."""
    deletes: bool

    @property
    def query_id(self) -> int:
        """The id of its text that was called most."""
        return self.query_ids[0]

    def at(self, meeting: Meeting) -> At | None:
        """Returns the column of the source that a parameter meets."""
        if meeting.column is None:
            return None
        table = self.tables.get(meeting.column.table)
        column = table.column(meeting.column.name) if table else None
        return None if table is None or column is None else (table, column)

    def type_of(self, meeting: Meeting) -> Type:
        """Returns the type of a parameter."""
        return self.types[meeting.number - 1]


def ranges_of(statement: Statement) -> Iterator[tuple[Meeting, Meeting]]:
    """Yields the pairs of parameters that bound one column of one occurrence of a table."""
    lowers: dict[object, Meeting] = {}
    uppers: dict[object, Meeting] = {}
    for one in statement.met.meetings:
        if one.role in _LOWER or (one.role is Role.BETWEEN and not one.upper):
            lowers.setdefault(one.column, one)
        elif one.role in _UPPER or one.role is Role.BETWEEN:
            uppers.setdefault(one.column, one)
    for column, low in lowers.items():
        if column is not None and column in uppers:
            yield low, uppers[column]


def to_be_new(statement: Statement) -> tuple[dict[int, At], set[int]]:
    """Returns the parameters of an insert whose values must be new, with their columns: of each
    unique key that the statement gives whole one column, if possible a number that refers to no
    other table. Where all columns of a key do, it also returns one of them, which must be of
    another row than the rest: one whose foreign key it is alone, since several columns of a key
    are of one row."""
    if statement.keeps:
        return {}, set()
    by_row: dict[tuple[Table, int], dict[str, Meeting]] = {}
    for one in statement.met.meetings:
        at = statement.at(one)
        if one.role is Role.VALUES and one.column is not None and at is not None:
            by_row.setdefault((at[0], one.column.occurrence), {})[at[1].name] = one
    new: dict[int, At] = {}
    apart: set[int] = set()
    for (table, _), given in by_row.items():
        for key in table.unique:
            columns = [found for name in key if (found := table.column(name)) and name in given]
            free = [one for one in columns if can_be_new(one.type) and not one.refers]
            if len(columns) < len(key):
                continue
            if free:
                best = min(free, key=lambda one: not has_highest(one.type) or one.type == "date")
                new[given[best.name].number] = (table, best)
            elif len(columns) > 1:
                alone = [one for one in columns if one.parent is not None]
                apart.add(given[(alone or columns)[-1].name].number)
    return new, apart
