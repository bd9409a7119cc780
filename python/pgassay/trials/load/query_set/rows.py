"""The values that the parameters of queries have in each execution.

Enters: queries with their files of parameters, a seed. Leaves: values as they are sent, for each
execution; the same for all arms of a block. Never: keeps more rows than are sent.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameter_values import values_of
from pgassay.spec.workload.parameters import ParameterFile
from pgassay.trials.load.parameters import content_of
from pgassay.trials.load.query_set.texts import SentQuery


def rows_of_queries(
    queries: Sequence[Mapping[str, SentQuery]],
    scenarios: Sequence[Scenario],
    repeats: Mapping[str, int],
    seed: int,
) -> dict[str, list[dict[str, bytes | None]]]:
    """Returns the values of each execution of those queries that have variables in some arm, by
    variable; last those of which answers are compared, the same in all trials. `queries` are those
    of each arm. Raises SpecError where a file has changed."""
    found = {}
    for one in scenarios:
        names = {name for own in queries for name in own[one.name].variables}
        if names and one.parameters is not None:
            source = random.Random(f"{seed}/{one.name}")
            executions = range(repeats[one.name] + 1)
            numbers = [int(source.random() * one.parameters.rows) for _ in executions]
            numbers.append(int(random.Random(one.name).random() * one.parameters.rows))
            rows = _rows(one.parameters, set(numbers))
            found[one.name] = [{name: _sent(rows[at][name]) for name in names} for at in numbers]
    return found


def _rows(file: ParameterFile, numbers: set[int]) -> dict[int, dict[str, Any]]:
    found, first = {}, 0
    for batch in values_of(content_of(file), file.columns, Path(file.path)):
        for at in numbers:
            if first <= at < first + batch.num_rows:
                (found[at],) = batch.slice(at - first, 1).to_pylist()
        first += batch.num_rows
    return found


def _sent(value: Any) -> bytes | None:
    if value is None:
        return None
    return (str(value).lower() if isinstance(value, bool) else str(value)).encode()
