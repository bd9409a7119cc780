"""Which column of which table a name in a statement means.

Enters: the FROM lists and common table expressions of a tree, and what is known of tables. Leaves:
columns with the occurrence of the table that they are of. Never: asks a server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from pgassay.draw.statements.parsing import Node, ast


class TableName(NamedTuple):
    """A table as a statement names it, without quotes."""

    schema: str | None
    """None where the search path decides."""
    name: str


class Column(NamedTuple):
    """A column of one occurrence of a table in a statement."""

    table: TableName
    name: str
    occurrence: int
    """Columns of one occurrence belong to the same row."""


ColumnsOf = Callable[[TableName], Sequence[str] | None]
"""The columns of a table in their order; None where they are not known."""
Derived = Mapping[str, Column | None]
"""The columns of a subquery, each with the table's column that it is, if it is one."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A table in a FROM list."""

    table: TableName
    number: int


@dataclass(slots=True)
class Scope:
    """The names that a part of a statement sees."""

    columns_of: ColumnsOf
    numbers: count[int] = field(default_factory=count)
    outer: Scope | None = None
    sources: dict[str, Occurrence | Derived] = field(default_factory=dict)
    expressions: dict[str, Derived] = field(default_factory=dict)
    """Common table expressions."""

    def inside(self) -> Scope:
        """Returns the scope of a subquery, which sees the names of this one."""
        return Scope(self.columns_of, self.numbers, self)

    def add_table(self, node: Node) -> Occurrence | None:
        """Takes a table of a FROM list, or the common table expression that its name means."""
        alias = node.alias.aliasname if node.alias else node.relname
        expression = None if node.schemaname else self._expression(node.relname)
        if expression is not None:
            self.sources[alias] = expression
            return None
        occurrence = self.occurrence(TableName(node.schemaname, node.relname))
        self.sources[alias] = occurrence
        return occurrence

    def occurrence(self, table: TableName) -> Occurrence:
        """Returns a further occurrence of a table, which no name means."""
        return Occurrence(table, next(self.numbers))

    def column(self, node: Node) -> Column | None:
        """Returns the column that a reference means; None where it is none of a table."""
        names = [one.sval for one in node.fields if isinstance(one, ast.String)]
        if len(names) != len(node.fields) or not names:
            return None
        if len(names) > 1:
            return self._of(names[-2], names[-1])
        found = [one for source in self.sources.values() if (one := self._in(source, names[0]))]
        if found or self.outer is None:
            # Only a table whose columns are known, or the only one, is sure to have it.
            return found[0] if len(found) == 1 else None
        return self.outer.column(node)

    def all_columns(self) -> dict[str, Column | None]:
        """Returns the columns of all tables here, as `*` means them."""
        found: dict[str, Column | None] = {}
        for source in self.sources.values():
            if isinstance(source, Occurrence):
                for name in self.columns_of(source.table) or ():
                    found[name] = Column(source.table, name, source.number)
            else:
                found.update(source)
        return found

    def _expression(self, name: str) -> Derived | None:
        if name in self.expressions:
            return self.expressions[name]
        return self.outer._expression(name) if self.outer else None

    def _of(self, alias: str, name: str) -> Column | None:
        source = self.sources.get(alias)
        if source is None:
            return self.outer._of(alias, name) if self.outer else None
        if isinstance(source, Occurrence) and self.columns_of(source.table) is None:
            return Column(source.table, name, source.number)
        return self._in(source, name)

    def _in(self, source: Occurrence | Derived, name: str) -> Column | None:
        if not isinstance(source, Occurrence):
            return source.get(name)
        known = self.columns_of(source.table)
        alone = len(self.sources) == 1 and self.outer is None
        if (known is None and alone) or (known is not None and name in known):
            return Column(source.table, name, source.number)
        return None
