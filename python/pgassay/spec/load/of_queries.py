"""The load of a query set: one step, which lasts until every query has run often enough.

Enters: the `[load]` table, the number of queries. Leaves: the table with a step of an assumed
length. Never: runs a query.
"""

from __future__ import annotations

from pgassay.spec.load.table import LoadTable

ASSUMED_S = 0.5
"""Of an execution, before one has been measured."""


FEWEST = 3
"""Executions of each query that count, where the file does not say how many: in the pilot, and
later at least."""


def counted_of(load: LoadTable) -> int | None:
    """Returns how many executions of each query count, in a session and a trial of one arm; None
    where a pilot says."""
    return load.repeats if load.caches == "warm" else 1


def executions_of(load: LoadTable) -> int:
    """Returns how many there are: one more, which gives the plan."""
    return (counted_of(load) or FEWEST) + 1


def as_step_of_queries(load: LoadTable, queries: int) -> LoadTable:
    """Returns the table with one step without a warm-up: sessions are one unless the file says
    otherwise, and its length is assumed."""
    of_each_s = min(ASSUMED_S, load.timeout)
    step: dict[str, object] = {"step": queries * executions_of(load) * of_each_s, "warmup": None}
    if "clients" not in load.model_fields_set:
        step["clients"] = (1,)
    return load.model_copy(update=step)
