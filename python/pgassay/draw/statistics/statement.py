"""A statement that is drawn, and what its parameters are to each other.

Enters: a tree with its meetings, types and tables. Leaves: a `Statement`, its ranges, its values
that must be new. Never: asks a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pgassay.draw.model import Figures, Role
from pgassay.draw.statements.meetings import Meeting, Met
from pgassay.draw.statements.parsing import Node
from pgassay.draw.statements.scopes import TableName
from pgassay.draw.statistics.constants import Constants
from pgassay.draw.statistics.ranges import Width
from pgassay.draw.tables.catalogue import Table
from pgassay.draw.tables.types import Type
from pgassay.draw.tables.unique_keys import At, keys_given, new_of

_LOWER, _UPPER = {Role.ABOVE, Role.FROM}, {Role.BELOW, Role.UP_TO}


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


def to_be_new(
    statement: Statement, distinct: Callable[[At], int] = lambda _: 0
) -> tuple[dict[int, At], set[int]]:
    """Returns the parameters of an insert whose values must be new, with their columns, one of each
    unique key. Where all columns of a key refer to other tables, it also returns one of them, which
    must be of another row than the rest: one that is a foreign key by itself, since the columns of
    a longer one are of one row."""
    new: dict[int, At] = {}
    apart: set[int] = set()
    for key in () if statement.keeps else keys_given(statement.met.meetings, statement.at):
        found = new_of(key, {meeting.number: distinct(at) for meeting, at in key})
        if found is not None:
            new[found[0].number] = found[1]
        elif len(key) > 1:
            alone = [meeting for meeting, at in key if at[1].parent is not None]
            apart.add((alone or [meeting for meeting, _ in key])[-1].number)
    return new, apart
