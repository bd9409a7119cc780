"""Keys of rows that a log inserted, which a copy of the server has already.

Enters: a drawing of a log, a session on its server that only reads. Leaves: the drawing, in which
the values of such keys are new, the same in all statements of a transaction. Never: changes a key
that the server gives, or one whose row an earlier statement of the transaction inserted.

A program that makes its own keys (uuids, references, a counter that it reads first) has them in the
log. On a copy that is made later these rows are there, and the INSERT would fail.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.draw.log.returned import inserted_keys, with_returned
from pgassay.draw.log.texts import column_name
from pgassay.draw.model import (
    Drawing,
    DrawnScenario,
    DrawnStatement,
    Origin,
    Parameter,
    Role,
)
from pgassay.draw.statements.meetings import Meeting, meetings_of
from pgassay.draw.statements.parsing import Node, Unparsable, ast, parsed
from pgassay.draw.tables.catalogue import Catalogue
from pgassay.draw.tables.new_keys import At, NewKeys, keys_given, new_of
from pgassay.draw.tables.rows import Sampler
from pgassay.server.protocol import Connection

_LASTS_S = 1800.0
"""As long as the keys last at the rate of the source, where that takes no more rows than these."""
_MOST_ROWS = 100_000
_SAMPLED = 1000
_NAMED = 5
"""Parameters in a note at most."""
_VARIABLE = re.compile(r"(?<![:\w]):(\w+)\b")


def with_new_keys(drawing: Drawing, session: Connection) -> Drawing:
    """Returns the drawing with new keys for the rows that it inserts. Raises psycopg.Error."""
    keys = _Keys(session, drawing)
    scenarios = tuple(map(keys.of, drawing.scenarios))
    new = [
        one.parameters.num_rows
        for one, before in zip(scenarios, drawing.scenarios, strict=True)
        if one.order != before.order and one.parameters is not None
    ]
    said = ("draw/in-sequence", {"count": len(new), "rows": min(new)}) if new else None
    notes = drawing.notes if said is None else (*drawing.notes, said)
    return replace(drawing, scenarios=scenarios, notes=notes)


def with_keys_as_logged(drawing: Drawing) -> Drawing:
    """Returns the drawing with a note on the keys that it inserts, for a server that is not
    named: which keys are unique is not known, nor what values are free."""
    names = tuple(name for one in drawing.scenarios for name in inserted_keys(one))
    said = ("draw/log/inserts-again", {"names": names[:_NAMED], "count": len(names)})
    return replace(drawing, notes=(*drawing.notes, said)) if names else drawing


class _Keys:
    """The new keys of one drawing: no two scenarios have the same."""

    def __init__(self, session: Connection, drawing: Drawing) -> None:
        random = np.random.default_rng(1)
        self._catalogue = Catalogue(session)
        self._sampler = Sampler(session, _SAMPLED, random)
        self._new = NewKeys(self._sampler, random)
        self._path = ",".join(f'"{quoted}"' for quoted in map(_doubled, drawing.schemas))
        self._seconds = max(drawing.figures.seconds, 1.0)

    def of(self, scenario: DrawnScenario) -> DrawnScenario:
        """Returns the scenario with new keys; itself where it needs none."""
        statements = tuple(map(self._with_columns, scenario.statements))
        if statements != scenario.statements:
            # What returned keys are sent into is known now, too.
            scenario = with_returned(replace(scenario, statements=statements))
        values = scenario.parameters
        new = self._needed(scenario)
        if values is None or not new:
            return scenario
        wanted = min(scenario.transactions / self._seconds * _LASTS_S, _MOST_ROWS)
        times = max(1, round(wanted / values.num_rows))
        table = pa.concat_tables([values] * times)
        for name, at in new.items():
            made = self._made(values.column(name), at, times)
            table = table.set_column(table.column_names.index(name), name, made)
        return replace(
            scenario,
            statements=tuple(_with_origin(one, new) for one in scenario.statements),
            parameters=table,
            order="sequential",
        )

    def _needed(self, scenario: DrawnScenario) -> dict[str, At]:
        """The variables that must be new, each with a column of a key that it is of."""
        values = scenario.parameters
        new: dict[str, At] = {}
        for statement in scenario.statements:
            for key in self._keys_of(statement):
                of_key = {meeting.number: _parameter(statement, meeting) for meeting, _ in key}
                # Whose row is new, or has a key that the server gives, is new with it.
                if any(one.name in new or one.origin is not Origin.LOG for one in of_key.values()):
                    continue
                distinct = {number: _distinct(values, one.name) for number, one in of_key.items()}
                found = new_of(key, distinct)
                if found is not None:
                    new[of_key[found[0].number].name] = found[1]
        return new

    def _keys_of(self, statement: DrawnStatement) -> Iterator[list[tuple[Meeting, At]]]:
        """The unique keys that a statement gives whole; none of one that deals with conflicts. A
        parameter has the number of its place among those of the statement."""
        tree = _insert(statement)
        if tree is None or tree.onConflictClause is not None:
            return

        def at(meeting: Meeting) -> At | None:
            if meeting.column is None:
                return None
            table = self._catalogue.table(self._path, meeting.column.table)
            column = table.column(meeting.column.name) if table else None
            return None if table is None or column is None else (table, column)

        yield from keys_given(self._met(tree), at)

    def _with_columns(self, statement: DrawnStatement) -> DrawnStatement:
        """An insert that names no columns, with those of its parameters."""
        tree = _insert(statement)
        if tree is None or tree.cols:
            return statement
        columns = {one.number: one.column for one in self._met(tree)}
        parameters = tuple(
            replace(one, column=column_name(found), role=Role.VALUES)
            if one.column is None and (found := columns.get(place))
            else one
            for place, one in enumerate(statement.parameters, start=1)
        )
        return replace(statement, parameters=parameters)

    def _met(self, tree: Node) -> tuple[Meeting, ...]:
        return meetings_of(tree, lambda name: self._catalogue.columns_of(self._path, name)).meetings

    def _made(self, values: pa.ChunkedArray, at: At, times: int) -> pa.ChunkedArray:
        """New values where these are, equal where they are equal, others each time."""
        table, column = at
        self._sampler.sample(table, [column.name], written=True)
        known = values.combine_chunks().dictionary_encode()
        each = len(known.dictionary)
        new = pa.array(self._new.values(at, each * times), pa.string()).cast(values.type)
        return pa.chunked_array(
            [new.slice(turn * each, each).take(known.indices) for turn in range(times)], values.type
        )


def _insert(statement: DrawnStatement) -> Node | None:
    """The tree of a statement that inserts, with the place of each variable among its parameters
    as `$n`; None of another."""
    places = {one.name: place for place, one in enumerate(statement.parameters, start=1)}
    text = _VARIABLE.sub(
        lambda found: f"${places[found[1]]}" if found[1] in places else found[0], statement.text
    )
    try:
        tree = parsed(text)
    except Unparsable:
        return None
    return tree if isinstance(tree, ast.InsertStmt) else None


def _parameter(statement: DrawnStatement, meeting: Meeting) -> Parameter:
    return statement.parameters[meeting.number - 1]


def _distinct(values: pa.Table | None, name: str) -> int:
    if values is None or name not in values.column_names:
        return 0
    return int(pc.count_distinct(values.column(name)).as_py())


def _with_origin(statement: DrawnStatement, new: Collection[str]) -> DrawnStatement:
    parameters = tuple(
        replace(one, origin=Origin.ABOVE) if one.name in new else one
        for one in statement.parameters
    )
    return replace(statement, parameters=parameters)


def _doubled(name: str) -> str:
    return name.replace('"', '""')
