"""Keys of new rows: those that a statement returned and later ones sent, those that clients gave.

Enters: a scenario with the values of the log. Leaves: the scenario, in which returned keys are
taken from what the statement returns; names of those that clients may have given. Never: takes a
value for returned that neither bears its name nor meets its column.

An order's lines name the order by a key that the server gave it. A copy of the server gives
another: with the logged one the lines would belong to an order that has its lines already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pgassay.draw.model import DrawnScenario, Origin, Role
from pgassay.draw.statements.parsing import Unparsable, ast, parsed

_UUID = r"^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$"
_ENOUGH_ROWS = 10
"""With fewer, that all values differ says little."""


def with_returned(scenario: DrawnScenario) -> DrawnScenario:
    """Returns the scenario with each key that an INSERT of it returned taken from there."""
    for place, statement in enumerate(scenario.statements):
        key = _returned(statement.source_text)
        if key is not None and (names := _sent_later(scenario, place, *key)):
            scenario = _chained(scenario, place, names, *key)
    return scenario


def inserted_keys(scenario: DrawnScenario) -> Iterator[str]:
    """Yields SCENARIO.PARAMETER of inserted whole numbers and uuids that are all different, as
    those of a unique key that clients give are."""
    inserted = (one for each in scenario.statements for one in each.parameters)
    names = dict.fromkeys(one.name for one in inserted if one.role is Role.VALUES)
    values: pa.Table = scenario.parameters if scenario.parameters is not None else pa.table({})
    for name in names:
        column = values.column(name) if name in values.column_names else None
        if column is not None and _all_differ(column) and _may_be_keys(column):
            yield f"{scenario.name}.{name}"


def _may_be_keys(values: pa.ChunkedArray) -> bool:
    if not pa.types.is_string(values.type):
        return bool(pa.types.is_integer(values.type))
    return bool(pc.all(pc.match_substring_regex(values, _UUID)).as_py())


def _all_differ(values: pa.ChunkedArray) -> bool:
    few = len(values) < _ENOUGH_ROWS or values.null_count
    return not few and pc.count_distinct(values).as_py() == len(values)


def _returned(text: str) -> tuple[str, str] | None:
    """The table and the only column that an INSERT of one row always returns."""
    try:
        tree = parsed(text)
    except Unparsable:
        return None
    if not isinstance(tree, ast.InsertStmt) or tree.onConflictClause is not None:
        return None
    values = getattr(tree.selectStmt, "valuesLists", None)
    returned: Sequence[Any] = tree.returningClause.exprs if tree.returningClause else ()
    if not values or len(values) != 1 or len(returned) != 1:
        return None
    fields = getattr(returned[0].val, "fields", ())
    name = getattr(fields[-1], "sval", None) if fields else None
    return None if name is None else (tree.relation.relname.lower(), returned[0].name or name)


def _sent_later(scenario: DrawnScenario, place: int, table: str, column: str) -> list[str]:
    """The variables of later statements that are a returned key: of those that bear its name or
    meet its column, and whose values all differ, the first and what is equal to it."""
    before = {one.name for each in scenario.statements[: place + 1] for one in each.parameters}
    later = [one for each in scenario.statements[place + 1 :] for one in each.parameters]
    values: pa.Table | None = scenario.parameters
    found: dict[str, pa.ChunkedArray] = {}
    for name in dict.fromkeys(one.name for one in later):
        if values is None or name in before or name not in values.column_names:
            continue
        columns = [one.column.lower() for one in later if one.name == name and one.column]
        sent = values.column(name).cast(pa.string())
        if _is_key(name, columns, table, column) and _all_differ(sent):
            found[name] = sent
    first = next(iter(found.values()), None)
    return [name for name, sent in found.items() if sent.equals(first)]


def _is_key(name: str, columns: Sequence[str], table: str, column: str) -> bool:
    """Whether a variable is a key by the columns that it meets; by its own name where none is
    known: `id` is a name that any table's key has."""
    words = {table, table.removesuffix("s"), table.removesuffix("es")}
    named = {*words, *(f"{word}_{column}" for word in words)}
    if not columns:
        return name in {column, *named}
    if any(column.startswith(word) for word in words):
        named.add(column)
    return any(
        f".{one}".endswith(f".{table}.{column}") or one.rpartition(".")[2] in named
        for one in columns
    )


def _chained(
    scenario: DrawnScenario, place: int, names: Sequence[str], table: str, column: str
) -> DrawnScenario:
    """The scenario in which these variables are one that the statement at `place` returns."""
    taken = {one.name for each in scenario.statements for one in each.parameters}
    wanted = f"{table}_{column}"
    free = (one for one in (wanted, f"{names[0]}_{wanted}") if one not in taken)
    new = names[0] if names[0].endswith(column) else next(free)
    variable = re.compile(rf"(?<![:\w]):(?:{'|'.join(map(re.escape, names))})\b")
    statements = tuple(
        replace(
            each,
            text=variable.sub(f":{new}", each.text),
            parameters=tuple(
                replace(one, name=new, origin=Origin.RETURNED) if one.name in names else one
                for one in each.parameters
            ),
            returns=new.removesuffix(column) if number == place else each.returns,
        )
        for number, each in enumerate(scenario.statements)
    )
    kept = scenario.parameters.drop_columns(names) if scenario.parameters is not None else None
    parameters = kept if kept is not None and kept.num_columns else None
    return replace(scenario, statements=statements, parameters=parameters)
