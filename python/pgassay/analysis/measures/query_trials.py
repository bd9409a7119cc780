"""The queries of a set in one trial.

Enters: a stored trial. Leaves: `TrialQueries`, one for each arm that ran in it; the same times in
the measures of its scenarios. Never: counts an execution that was discarded, as the first of each
query is, but for its failure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from pgassay.analysis.measures.model import QueryCosts, ScenarioMeasures, TrialQueries
from pgassay.samples.stored_parts import StoredTrial

_FASTEST = 0.75
"""Of the executions of a query: those that its time is of."""
_FEWEST = 10
"""Executions from which on the slowest are left out."""
_FEWEST_OF_P95 = 100
"""Executions from which on five or more are slower than the 95th percentile."""


def time_of(executions_ms: Sequence[float], *, alike: bool) -> float:
    """Returns the time of a query in a trial: the mean of its executions, one at least; where all
    ask the same (`alike`) and there are ten, that of the fastest three quarters of them.

    What makes some executions slow then is other programs on their processor. Where the values
    of parameters differ, the slow ones may be those that matter.
    """
    counted = sorted(executions_ms)
    if alike and len(counted) >= _FEWEST:
        counted = counted[: math.ceil(_FASTEST * len(counted))]
    return math.fsum(counted) / len(counted)


def with_times(
    scenarios: Sequence[ScenarioMeasures], queries: Sequence[TrialQueries]
) -> tuple[ScenarioMeasures, ...]:
    """Returns the scenarios; those that are queries of the trial's arm have the time of the query
    as their mean."""
    times = queries[0].ms if len(queries) == 1 else {}
    return tuple(
        replace(one, quantiles_ms={**one.quantiles_ms, "mean": times[one.scenario]})
        if one.scenario in times
        else one
        for one in scenarios
    )


def read_queries(trial: StoredTrial, with_values: Collection[str] = ()) -> tuple[TrialQueries, ...]:
    """Returns the times, costs, plans and failures by arm; empty where the load is no set. The
    executions of a query of `with_values` differ in the values of its parameters."""
    rows = trial.queries()
    if rows is None:
        return ()
    summary = trial.summary()
    times: dict[tuple[str, str], list[float]] = {}
    failed: dict[tuple[str, str], Counter[str]] = {}
    returned: dict[tuple[str, str], dict[int, set[int]]] = {}
    columns = ("query", "arm", "ms", "sqlstate", "discarded", "repeat", "rows")
    for query, arm, ms, sqlstate, discarded, repeat, count in zip(
        *(rows[name].to_pylist() for name in columns), strict=True
    ):
        own = times.setdefault((arm, query), [])
        if sqlstate is not None:
            failed.setdefault((arm, query), Counter())[sqlstate] += 1
        elif ms is not None and not discarded:
            own.append(ms)
            if count is not None:
                returned.setdefault((arm, query), {}).setdefault(repeat, set()).add(count)
    planned = trial.query_plans()
    return tuple(
        TrialQueries(
            summary.number,
            summary.block,
            arm,
            {
                query: time_of(own, alike=query not in with_values)
                for (of, query), own in times.items()
                if of == arm and own
            },
            {
                one.query: QueryCosts(**one.costs.model_dump())
                for one in planned
                if one.arm == arm and one.costs is not None
            },
            {one.query: one.plan for one in planned if one.arm == arm and one.plan},
            {query: dict(own) for (of, query), own in failed.items() if of == arm},
            {
                query: {repeat: tuple(sorted(counts)) for repeat, counts in own.items()}
                for (of, query), own in returned.items()
                if of == arm
            },
            {one.query: one.answer for one in planned if one.arm == arm and one.answer},
            {
                query: float(np.quantile(own, 0.95))
                for (of, query), own in times.items()
                if of == arm and len(own) >= _FEWEST_OF_P95
            },
        )
        for arm in dict.fromkeys(of for of, _ in times)
    )
