"""Keys of rows that a log inserted, which a copy of the server has already.

Enters: a drawing of a log, a session on its server that only reads. Leaves: the drawing, in which
the values of such keys are new, the same in all statements of a transaction. Never: changes a key
that the server gives, or one whose row an earlier statement of the transaction inserted.

A program that makes its own keys (uuids, references, a counter that it reads first) has them in the
log. On a copy that is made later these rows are there, and the INSERT would fail.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import count

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
from pgassay.draw.tables.guesses import INTEGERS
from pgassay.draw.tables.rows import Sampler
from pgassay.draw.tables.unique_keys import At, NewKeys, keys_given, new_of
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement as sql

_LASTS_S = 1800.0
"""As long as the keys last at the rate of the source, where that takes no more rows than these."""
_MOST_ROWS, _MOST_BYTES = 100_000, 64 << 20
_SAMPLED = 1000
_NAMED = 5
"""Parameters or tables in a note at most."""
_VARIABLE = re.compile(r"(?<![:\w]):(\w+)\b")


def with_new_keys(drawing: Drawing, session: Connection) -> Drawing:
    """Returns the drawing with new keys for the rows that it inserts, and a note on those whose
    keys cannot be new. Raises psycopg.Error."""
    keys = _Keys(session, drawing)
    scenarios = tuple(map(keys.of, drawing.scenarios))
    new = [
        one.parameters.num_rows
        for one, before in zip(scenarios, drawing.scenarios, strict=True)
        if one.order != before.order and one.parameters is not None
    ]
    notes = [*drawing.notes]
    if new:
        notes.append(("draw/in-sequence", {"count": len(new), "rows": min(new)}))
    if taken := tuple(dict.fromkeys(keys.taken)):
        notes.append(("draw/log/keys-taken", {"names": taken[:_NAMED], "count": len(taken)}))
    return replace(drawing, scenarios=scenarios, notes=tuple(notes))


def with_keys_as_logged(drawing: Drawing) -> Drawing:
    """Returns the drawing with a note on the keys that it inserts, for a server that is not
    named: which keys are unique is not known, nor what values are free."""
    names = tuple(name for one in drawing.scenarios for name in inserted_keys(one))
    said = ("draw/log/inserts-again", {"names": names[:_NAMED], "count": len(names)})
    return replace(drawing, notes=(*drawing.notes, said)) if names else drawing


@dataclass(frozen=True)
class _Insert:
    """A statement that inserts, with a number for each place of a value."""

    tree: Node
    given: tuple[Parameter | None, ...]
    """The variable of `$1`, `$2` …; None of a constant."""

    def of(self, meeting: Meeting) -> Parameter | None:
        """Returns the variable at a place."""
        return self.given[meeting.number - 1]


class _Keys:
    """The new keys of one drawing: no two scenarios have the same."""

    def __init__(self, session: Connection, drawing: Drawing) -> None:
        random = np.random.default_rng(1)
        self._catalogue = Catalogue(session)
        self._sampler = Sampler(session, _SAMPLED, random)
        self._new = NewKeys(self._sampler, random)
        own = session.execute(sql("drawing/schemas"), prepare=False).fetchone()
        # Of a log whose lines do not say the user: where this session looks.
        schemas = drawing.schemas or (own[0] if own else ())
        self._path = ",".join(f'"{quoted}"' for quoted in map(_doubled, schemas))
        self._seconds = max(drawing.figures.seconds, 1.0)
        self.taken: list[str] = []
        """Tables with keys that are given whole and cannot be new."""

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
        wanted = scenario.transactions / self._seconds * _LASTS_S
        room = _MOST_BYTES * values.num_rows / max(values.nbytes, 1)
        times = max(1, round(min(wanted, _MOST_ROWS, room) / values.num_rows))
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
        elsewhere = _looked_up_elsewhere(scenario)
        new: dict[str, At] = {}
        for statement in scenario.statements:
            insert = _insert(statement)
            if insert is None or insert.tree.onConflictClause is not None:
                continue
            if statement.figures.failed >= statement.figures.calls > 0:
                continue  # as it was on the source
            for key in keys_given(self._met(insert.tree), self._at):
                of_key = {one.number: mine for one, _ in key if (mine := insert.of(one))}
                # Whose row is new, or has a key that the server gives, is new with it.
                if any(one.name in new or one.origin is not Origin.LOG for one in of_key.values()):
                    continue
                distinct = {number: _distinct(values, one.name) for number, one in of_key.items()}
                found = new_of(
                    [
                        (one, at)
                        for one, at in key
                        if one.number in of_key
                        and elsewhere[of_key[one.number].name] <= {at[0].name}
                    ],
                    distinct,
                )
                if found is not None:
                    new[of_key[found[0].number].name] = found[1]
                elif of_key:
                    self.taken.append(key[0][1][0].quoted)
        return new

    def _at(self, meeting: Meeting) -> At | None:
        if meeting.column is None:
            return None
        table = self._catalogue.table(self._path, meeting.column.table)
        column = table.column(meeting.column.name) if table else None
        return None if table is None or column is None else (table, column)

    def _with_columns(self, statement: DrawnStatement) -> DrawnStatement:
        """An insert that names no columns, with those of its parameters."""
        insert = _insert(statement)
        if insert is None or insert.tree.cols:
            return statement
        columns = {
            found.name: column_name(one.column)
            for one in self._met(insert.tree)
            if one.column and (found := insert.of(one))
        }
        parameters = tuple(
            replace(one, column=columns[one.name], role=Role.VALUES)
            if one.column is None and one.name in columns
            else one
            for one in statement.parameters
        )
        return replace(statement, parameters=parameters)

    def _met(self, tree: Node) -> tuple[Meeting, ...]:
        return meetings_of(tree, lambda name: self._catalogue.columns_of(self._path, name)).meetings

    def _made(self, values: pa.ChunkedArray, at: At, times: int) -> pa.ChunkedArray:
        """New values where these are, equal where they are equal, others each time."""
        table, column = at
        names = {name for key in table.unique for name in key}
        self._sampler.sample(table, names, written=True)
        known = values.combine_chunks().dictionary_encode()
        each = len(known.dictionary)
        logged = known.dictionary.slice(0, _SAMPLED).cast(pa.string()).to_pylist()
        texts = pa.array(self._new.values(at, each * times, logged), pa.string())
        new = texts.cast(pa.int64()) if column.type in INTEGERS else texts
        return pa.chunked_array(
            [new.slice(turn * each, each).take(known.indices) for turn in range(times)], new.type
        )


def _insert(statement: DrawnStatement) -> _Insert | None:
    """A statement that inserts; None of another."""
    known = {one.name: one for one in statement.parameters}
    given: list[Parameter | None] = []

    def place(found: re.Match[str]) -> str:
        if found[1] not in known:
            return found[0]
        given.append(known[found[1]])
        return f"${len(given)}"

    try:
        tree = parsed(_VARIABLE.sub(place, statement.text))
    except Unparsable:
        return None
    if not isinstance(tree, ast.InsertStmt):
        return None
    if (rows := getattr(tree.selectStmt, "valuesLists", None)) is not None:
        # A constant is of a key as a parameter is.
        for row in rows:
            given += [None for one in row if isinstance(one, ast.A_Const)]
        number = count(len(given) - sum(one is None for one in given) + 1)
        tree.selectStmt.valuesLists = tuple(
            tuple(
                ast.ParamRef(number=next(number)) if isinstance(one, ast.A_Const) else one
                for one in row
            )
            for row in rows
        )
    return _Insert(tree, tuple(given))


def _looked_up_elsewhere(scenario: DrawnScenario) -> dict[str, set[str]]:
    """By variable the tables in which its rows are looked up, but for those that the scenario
    inserts: there must be rows of it."""
    found: dict[str, set[str]] = defaultdict(set)
    inserted: dict[str, set[str]] = defaultdict(set)
    for each in scenario.statements:
        for one in each.parameters:
            table = (one.column or "").split(".")[-2:-1]
            if one.role.looks_up:
                found[one.name].update(table)
            elif one.role is Role.VALUES:
                inserted[one.name].update(table)
    for name, tables in found.items():
        tables -= inserted[name]
    return found


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
