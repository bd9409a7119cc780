"""Values that a statement of a transaction returned, and that later ones sent.

Enters: a scenario with the values of the log. Leaves: the scenario, in which such values are taken
from what the statement returns. Never: takes a value for returned that neither bears its name
nor meets its column.

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

from pgassay.draw.model import DrawnScenario, DrawnStatement, Origin, Parameter
from pgassay.draw.statements.parsing import Unparsable, ast, parsed

_ENOUGH_ROWS = 10
"""With fewer, that all values differ says little."""


def with_returned(scenario: DrawnScenario) -> DrawnScenario:
    """Returns the scenario with each key that an INSERT of it returned taken from there."""
    for place, statement in enumerate(scenario.statements):
        key = _returned(statement.source_text)
        if key is not None and (name := next(_sent_later(scenario, place, *key), None)):
            table, column = key
            if not name.endswith(column):
                scenario, name = _renamed(scenario, name, f"{table}_{column}")
            scenario = _chained(scenario, place, name, name.removesuffix(column))
    return scenario


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


def _sent_later(scenario: DrawnScenario, place: int, table: str, column: str) -> Iterator[str]:
    """The variables of later statements that bear the name of a returned key, or that meet its
    column, and whose values all differ."""
    before = {one.name for each in scenario.statements[: place + 1] for one in each.parameters}
    later = [one for each in scenario.statements[place + 1 :] for one in each.parameters]
    values: pa.Table | None = scenario.parameters
    words = {table, table.removesuffix("s"), table.removesuffix("es")}
    named = {column, *words, *(f"{word}_{column}" for word in words)}
    key = f"{table}.{column}"
    for name in sorted({one.name for one in later} - before):
        columns = {f".{one.column.lower()}" for one in later if one.name == name and one.column}
        is_key = name in named or any(one.endswith(f".{key}") for one in columns)
        if values is not None and is_key and values.num_rows >= _ENOUGH_ROWS:
            sent = values.column(name)
            if sent.null_count == 0 and pc.count_distinct(sent).as_py() == len(sent):
                yield name


def _renamed(scenario: DrawnScenario, name: str, wanted: str) -> tuple[DrawnScenario, str]:
    """The scenario with a variable named as its key is, so that it can be returned."""
    taken = {one.name for each in scenario.statements for one in each.parameters}
    new = next(one for one in (wanted, f"{name}_{wanted}") if one not in taken)
    variable = re.compile(rf"(?<![:\w]):{re.escape(name)}\b")
    statements = tuple(
        replace(
            each,
            text=variable.sub(f":{new}", each.text),
            parameters=tuple(
                replace(one, name=new) if one.name == name else one for one in each.parameters
            ),
        )
        for each in scenario.statements
    )
    values = scenario.parameters
    if values is not None:
        values = values.rename_columns([new if one == name else one for one in values.column_names])
    return replace(scenario, statements=statements, parameters=values), new


def _chained(scenario: DrawnScenario, place: int, name: str, prefix: str) -> DrawnScenario:
    values = scenario.parameters.drop_columns([name]) if scenario.parameters is not None else None
    statements: list[DrawnStatement] = []
    for number, one in enumerate(scenario.statements):
        parameters: tuple[Parameter, ...] = tuple(
            replace(each, origin=Origin.RETURNED) if each.name == name else each
            for each in one.parameters
        )
        returns = prefix if number == place else one.returns
        statements.append(replace(one, parameters=parameters, returns=returns))
    kept = values if values is not None and values.num_columns else None
    return replace(scenario, statements=tuple(statements), parameters=kept)
