"""Unique keys that an insert gives: which value of each must be new, and new values for it.

Enters: what an insert writes where, samples of the source. Leaves: the parameter of a key that must
be new; values that no row has, never the same twice. Never: shows a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from pgassay.draw.model import Role
from pgassay.draw.statements.meetings import Meeting
from pgassay.draw.tables.catalogue import Table, TableColumn
from pgassay.draw.tables.guesses import INTEGERS, TEXTS, Values, can_be_new, has_highest, new_values
from pgassay.draw.tables.rows import Sampler

_NEARLY = 0.5
"""So large a part of the most values is as many, since samples are small."""
At = tuple[Table, TableColumn]


def keys_given(
    meetings: Iterable[Meeting], at: Callable[[Meeting], At | None]
) -> Iterator[list[tuple[Meeting, At]]]:
    """Yields each unique key of which an insert gives every column by a parameter, for each of its
    rows: the parameters with their columns, in the order of the key."""
    by_row: dict[tuple[Table, int], dict[str, Meeting]] = {}
    for one in meetings:
        found = at(one)
        if one.role is Role.VALUES and one.column is not None and found is not None:
            by_row.setdefault((found[0], one.column.occurrence), {})[found[1].name] = one
    for (table, _), given in by_row.items():
        for key in table.unique:
            columns = [table.column(name) for name in key if name in given]
            if len(columns) == len(key):
                yield [(given[one.name], (table, one)) for one in columns if one is not None]


def new_of(
    key: Iterable[tuple[Meeting, At]], distinct: Mapping[int, int]
) -> tuple[Meeting, At] | None:
    """Returns the parameter of a key whose values must be new; None where all refer to other
    tables. It is one with most values (`distinct`: how many, by the parameter's number), if
    possible a number."""
    free = [(meeting, at) for meeting, at in key if can_be_new(at[1].type) and not at[1].refers]
    most = max((distinct.get(meeting.number, 0) for meeting, _ in free), default=0)
    many = [one for one in free if distinct.get(one[0].number, 0) >= _NEARLY * most]
    return min(many, key=lambda one: _rank(one[1][1].type), default=None)


def _rank(kind: str) -> int:
    """Numbers first; times last, by which rows are often placed."""
    if kind in INTEGERS:
        return 0
    return 1 if not has_highest(kind) else 2 + (kind == "date")


class NewKeys:
    """The new values of one drawing."""

    def __init__(self, sampler: Sampler, random: np.random.Generator) -> None:
        self._sampler, self._random = sampler, random
        self._used: dict[tuple[int, str], int] = {}

    def values(self, at: At, number: int, known: Values = ()) -> Values:
        """Returns so many values of a column as text: like those `known` of it, else like its
        rows, which were sampled if they may be read. Raises psycopg.OperationalError."""
        table, column = at
        key = (table.oid, column.name)
        used = self._used.get(key, 0)
        self._used[key] = used + number
        highest = self._sampler.highest(table, column.name) if has_highest(column.type) else None
        like = known or self._sampler.values(table, column.name, written=True) or []
        in_order = column.type in TEXTS and self._sampler.is_in_order(table, column.name)
        if in_order:
            like = [max((one for one in like if one), default=None)]
        made = (column.type, number, used, highest, like, self._random)
        return new_values(*made, is_in_order=in_order)
