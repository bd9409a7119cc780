"""Rows of parameters for the statements of a scenario.

Enters: statements whose parameters have types and columns, samples of the source. Leaves: a column
of values for each parameter, and where they come from. Never: shows a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from pgassay.draw.model import Origin, Role
from pgassay.draw.statements.meetings import Meeting
from pgassay.draw.statements.scopes import Column as NamedColumn
from pgassay.draw.statistics.ranges import between
from pgassay.draw.statistics.skew import Skew, picked
from pgassay.draw.statistics.statement import Statement, ranges_of, to_be_new
from pgassay.draw.tables.catalogue import Catalogue, Table, TableColumn
from pgassay.draw.tables.guesses import (
    TIMES,
    Values,
    a_key_of,
    a_pair_of,
    arrow,
    as_array,
    fits,
    going_up,
    guessed,
    times_of_new_rows,
    value_at,
)
from pgassay.draw.tables.rows import Sampler
from pgassay.draw.tables.unique_keys import At, NewKeys

_PREFIX = 3
"""Letters of a value that a pattern begins with."""
_OFFSETS = 4
_FEW_VALUES = 0.5
"""So few in a sample, by its rows, are taken for all that the column has."""


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one parameter."""

    values: pa.Array
    origin: Origin


@dataclass(slots=True)
class _Rows:
    """What is chosen for one scenario, so that parameters fit each other."""

    number: int
    picks: dict[object, np.ndarray] = field(default_factory=dict)
    """Of each occurrence of a table and row of it: places in the sample."""
    taken: set[object] = field(default_factory=set)
    """Columns of a row that have a parameter."""
    apart: set[int] = field(default_factory=set)
    """Parameters whose values are not of the row of the others, so that a pair is new."""


class Drawer:
    """Draws the parameters of scenarios from one source."""

    def __init__(
        self, sampler: Sampler, catalogue: Catalogue, skew: Skew, random: np.random.Generator
    ) -> None:
        self._sampler, self._catalogue = sampler, catalogue
        self._skew, self._random = skew, random
        self._new = NewKeys(sampler, random)
        self.used_columns: set[str] = set()

    def sample(self, statements: Iterable[Statement], lasting: Mapping[int, int]) -> None:
        """Samples what these need; `lasting`: query id → rows that a statement needs. Raises
        psycopg.OperationalError."""
        needs: dict[tuple[int, bool], set[str]] = {}
        rows: dict[int, int] = {}
        for one in statements:
            for meeting in one.met.meetings:
                if (at := one.at(meeting)) is None:
                    continue
                oid, written = at[0].oid, not meeting.role.looks_up
                needs.setdefault((oid, written), set()).add(at[1].name)
                if not written:
                    self.used_columns.add(f"{at[0].schema}.{at[0].name}.{at[1].name}")
                    rows[oid] = max(rows.get(oid, 0), lasting.get(one.query_id, 0))
                if at[0].pages == 0 and at[1].parent is not None and at[1].parent_column:
                    needs.setdefault((at[1].parent, False), set()).add(at[1].parent_column)
        for (oid, written), names in needs.items():
            if (table := self._catalogue.of(oid)) is not None:
                wanted = 0 if written else rows.get(oid, 0)
                self._sampler.sample(table, names, written=written, rows=wanted)

    def has_new(self, statement: Statement) -> bool:
        """Whether a statement inserts values that no row may have."""
        return bool(to_be_new(statement)[0])

    def columns(self, statements: Sequence[Statement], rows: int) -> list[dict[int, Column]]:
        """Returns, for each statement of a scenario, the values of each of its parameters."""
        chosen = _Rows(rows)
        return [self._of_statement(one, chosen) for one in statements]

    def _of_statement(self, statement: Statement, chosen: _Rows) -> dict[int, Column]:
        new, chosen.apart = to_be_new(statement, self._distinct)
        found: dict[int, Column] = {}
        for low, high in ranges_of(statement):
            made = self._range(statement, low, high, chosen.number)
            fixed = statement.constants.fixed.keys() & {low.number, high.number}
            if made is not None and not fixed:
                found[low.number], found[high.number] = made
        chosen.taken.clear()
        guesses: dict[str, dict[int, Values]] = {}
        # What is compared with a key needs the key.
        for meeting in sorted(statement.met.meetings, key=lambda one: one.key > 0):
            if meeting.number in found:
                continue
            kind = statement.type_of(meeting)
            values: Values
            constants = statement.constants
            if meeting.number in constants.fixed:
                values = [constants.fixed[meeting.number]] * chosen.number
                origin = Origin.SESSIONS
            elif meeting.number in new:
                values, origin = self._new.values(new[meeting.number], chosen.number), Origin.ABOVE
            elif meeting.number in constants.seen and not statement.at(meeting):
                seen = constants.seen[meeting.number]
                picks = self._random.integers(0, len(seen), chosen.number)
                values, origin = [seen[pick] for pick in picks], Origin.SESSIONS
            elif meeting.role in {Role.LIMIT, Role.OFFSET, Role.FIELD}:
                values, origin = self._of_form(statement, meeting, chosen.number), Origin.TYPE
            else:
                values, origin = self._of_column(statement, meeting, chosen, found) or (
                    guessed(kind, chosen.number, self._random),
                    Origin.TYPE,
                )
                if origin is Origin.TYPE:
                    guesses.setdefault(kind.plain, {})[meeting.number] = values
            found[meeting.number] = Column(arrow(kind.plain, values), origin)
        for name, own in guesses.items():
            numbers = sorted(own)
            ordered = zip(numbers, going_up(name, [own[one] for one in numbers]), strict=True)
            found |= {one: Column(arrow(name, values), Origin.TYPE) for one, values in ordered}
        return found

    def _of_form(self, statement: Statement, meeting: Meeting, rows: int) -> Values:
        if meeting.role is Role.FIELD:
            return ["day"] * rows
        if meeting.role is Role.LIMIT:
            return [str(statement.elements)] * rows
        pages = self._random.integers(0, _OFFSETS, rows)
        return [str(page * statement.elements) for page in pages]

    def _of_column(
        self, statement: Statement, meeting: Meeting, chosen: _Rows, known: Mapping[int, Column]
    ) -> tuple[Values, Origin] | None:
        """Values of the column, by the best source; None where there is none, or where they are
        not of the parameter's type."""
        at = statement.at(meeting)
        kind = statement.type_of(meeting)
        wanted = kind.element if meeting.role is Role.ANY else kind.plain
        if at is None or wanted is None or not fits(at[1].type, wanted):
            return None
        if meeting.role is Role.ANY:
            return self._lists(statement, at, chosen.number)
        found = self._of_new_rows(statement, meeting, at, chosen.number)
        found = found or self._plain(statement, meeting, chosen)
        if found is None:
            return None
        values, origin = found
        if meeting.role is Role.LIKE:
            values = [None if one is None else _pattern(one) for one in values]
        elif meeting.role is Role.CONTAINS and kind.plain == "jsonb":
            values = [a_pair_of(one, self._random) for one in values]
        elif meeting.key:
            keys = known[meeting.key].values.to_pylist()
            values = [value_at(one, key) for one, key in zip(values, keys, strict=True)]
        elif meeting.role.is_key:
            values = [a_key_of(one, self._random) for one in values]
        return values, origin

    def _of_new_rows(
        self, statement: Statement, meeting: Meeting, at: At, rows: int
    ) -> tuple[Values, Origin] | None:
        """Times that are written as rows come; None of others."""
        table, column = at
        if meeting.role not in {Role.VALUES, Role.SET} or column.type not in TIMES:
            return None
        # A row that is changed may be an old one.
        comes = meeting.role is Role.VALUES and not statement.keeps
        in_order = comes and self._sampler.is_in_order(table, column.name)
        common = self._sampler.common(table, column.name)
        known = [
            *(self._sampler.values(table, column.name, written=True) or ()),
            *(common.bounds if common else ()),
        ]
        made = times_of_new_rows(column.type, rows, known, is_in_order=in_order)
        return None if made is None else (made, Origin.ABOVE)

    def _plain(
        self, statement: Statement, meeting: Meeting, chosen: _Rows
    ) -> tuple[Values, Origin] | None:
        at = statement.at(meeting)
        if at is None or meeting.column is None:
            return None
        table, column = at
        written = not meeting.role.looks_up
        sampled = self._sampler.values(table, column.name, written=written)
        if sampled is not None:
            picks = self._picks(statement, meeting, meeting.column, table, chosen)
            return [sampled[place] for place in picks], Origin.ROWS
        return self._without_rows(table, column, chosen.number)

    def _without_rows(
        self, table: Table, column: TableColumn, rows: int
    ) -> tuple[Values, Origin] | None:
        common = self._sampler.common(table, column.name)
        if common is not None:
            return common.drawn(rows, self._random), Origin.COMMON
        parent = self._catalogue.of(column.parent) if column.parent else None
        above = self._sampler.values(parent, column.parent_column or "") if parent else None
        if above is None:
            return None
        return [above[p] for p in picked(len(above), rows, 0.0, self._random)], Origin.PARENT

    def _picks(
        self,
        statement: Statement,
        meeting: Meeting,
        column: NamedColumn,
        table: Table,
        chosen: _Rows,
    ) -> np.ndarray:
        """Places in the sample: of parameters of the same row the same ones. A column that has a
        parameter already means another row."""
        looks_up = meeting.role.looks_up
        is_of_same = meeting.role.is_step or meeting.key > 0
        row = -meeting.number if meeting.number in chosen.apart else meeting.row
        while (key := (table.oid, column.occurrence, looks_up, row), column.name) in chosen.taken:
            if is_of_same:
                break
            row += 1
        if not is_of_same:
            chosen.taken.add((key, column.name))
        if key not in chosen.picks:
            mine = [
                (one.column.name, f"{table.schema}.{table.name}.{one.column.name}")
                for one in statement.met.meetings
                if one.column and one.column[::2] == column[::2] and one.role.looks_up
            ]
            exponent = self._skew.exponent(full for _, full in mine) if looks_up else 0.0
            places = self._known(table, [name for name, _ in mine] if looks_up else None)
            chosen.picks[key] = places[picked(len(places), chosen.number, exponent, self._random)]
        return chosen.picks[key]

    def _known(self, table: Table, names: Iterable[str] | None) -> np.ndarray:
        """Places of rows in which none of these columns is NULL; all, where each has one. Without
        names, those of all rows that values are written of."""
        if names is None:
            return np.arange(self._sampler.size(table, written=True))
        columns = [found for name in names if (found := self._sampler.values(table, name))]
        size = self._sampler.size(table)
        whole = np.ones(size, bool)
        for values in columns:
            whole &= np.array([one is not None for one in values])
        return np.flatnonzero(whole) if whole.any() else np.arange(size)

    def _lists(self, statement: Statement, at: At, rows: int) -> tuple[Values, Origin] | None:
        table, column = at
        sampled = self._sampler.values(table, column.name)
        exponent = self._skew.exponent([f"{table.schema}.{table.name}.{column.name}"])
        if sampled is None:
            return None
        elements = max(1, round(statement.elements / _repeated(sampled, table.rows)))
        places = picked(len(sampled), rows * elements, exponent, self._random)
        lists = places.reshape(rows, elements)
        return [as_array([sampled[one] for one in line]) for line in lists], Origin.ROWS

    def _distinct(self, at: At) -> int:
        """Of the sampled values of a column."""
        return len(set(self._sampler.values(at[0], at[1].name, written=True) or ()))

    def _range(
        self, statement: Statement, low: Meeting, high: Meeting, rows: int
    ) -> tuple[Column, Column] | None:
        """Both bounds of a stretch of a column."""
        at = statement.at(low)
        kinds = [statement.type_of(one).plain for one in (low, high)]
        sampled = self._sampler.values(at[0], at[1].name) if at is not None else None
        if at is None or sampled is None or not all(fits(at[1].type, one) for one in kinds):
            return None
        share = statement.width.share_of(at[0].rows)
        bounds = between(at[1].type, sampled, share, rows, self._random)
        if bounds is None:
            return None
        first, last = (
            Column(arrow(kind, values), Origin.ROWS)
            for kind, values in zip(kinds, bounds, strict=True)
        )
        return first, last


def _repeated(sampled: Values, rows: float | None) -> float:
    """How many rows a value has; 1 where the sample has too few of most values to tell."""
    values = len(set(sampled))
    return max(1.0, (rows or 0.0) / values) if values < _FEW_VALUES * len(sampled) else 1.0


def _pattern(value: str) -> str:
    """A pattern for LIKE of what begins as a value does."""
    head = value[:_PREFIX].replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"{head}%"
