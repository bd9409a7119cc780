"""Values that a statement of a transaction returned, and that later ones sent.

Enters: a scenario with the values of the log. Leaves: the scenario, in which such values are taken
from what the statement returns. Never: takes a value for returned that does not bear its name.

An order's lines name the order by a key that the server gave it. A copy of the server gives
another: with the logged one the lines would belong to an order that has its lines already.
"""

from __future__ import annotations

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
        column = _returned(statement.source_text)
        if column is not None:
            for name in _sent_later(scenario, place, *column):
                scenario = _chained(scenario, place, name, name.removesuffix(column[1]))
                break
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
    """The variables of later statements that bear the name of a returned key, and whose values all
    differ."""
    before = {one.name for each in scenario.statements[: place + 1] for one in each.parameters}
    later = {one.name for each in scenario.statements[place + 1 :] for one in each.parameters}
    values: pa.Table | None = scenario.parameters
    words = {table, table.removesuffix("s"), table.removesuffix("es")}
    for name in sorted(later - before):
        is_named = name == column or name in {f"{word}_{column}" for word in words}
        if values is not None and is_named and values.num_rows >= _ENOUGH_ROWS:
            sent = values.column(name)
            if sent.null_count == 0 and pc.count_distinct(sent).as_py() == len(sent):
                yield name


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
