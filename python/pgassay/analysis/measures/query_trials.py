"""The queries of a set in one trial.

Enters: a stored trial. Leaves: `TrialQueries`, one for each arm that ran in it. Never: counts an
execution that was discarded, as the first of each query is, but for its failure.
"""

from __future__ import annotations

import math
from collections import Counter

from pgassay.analysis.measures.model import QueryCosts, TrialQueries
from pgassay.samples.stored_parts import StoredTrial


def read_queries(trial: StoredTrial) -> tuple[TrialQueries, ...]:
    """Returns the times, costs, plans and failures by arm; empty where the load is no set."""
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
                query: math.fsum(own) / len(own)
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
        )
        for arm in dict.fromkeys(of for of, _ in times)
    )
