"""The load of a query set: one step, which lasts until every query has run often enough; and that
of the writes after it.

Enters: the `[load]` table, the number of queries. Leaves: the table with a step of an assumed
length, and that of the writes. Never: runs a query.
"""

from __future__ import annotations

from pgassay.spec.load.table import LoadTable

ASSUMED_S = 0.5
"""Of an execution, before one has been measured."""

_OF_WRITES = {"step": 10.0, "warmup": 2.0}
"""Seconds that the writes of a trial take, unless the file says otherwise."""


FEWEST = 3
"""Executions of each query that count, where the file does not say how many: in the pilot, and
later at least."""

_MOST_PASSES, _LEAST_IN_A_PASS = 10, 10


def counted_of(load: LoadTable) -> int | None:
    """Returns how many executions of each query count, in a session and a trial of one arm; None
    where a pilot says."""
    return load.repeats if load.caches == "warm" else 1


def executions_of(load: LoadTable) -> int:
    """Returns how many there are: one more, which gives the plan."""
    return (counted_of(load) or FEWEST) + 1


def passes_of(executions: int) -> int:
    """Returns among how many passes over the set so many executions of a query are divided."""
    return min(_MOST_PASSES, max(1, executions // _LEAST_IN_A_PASS))


def as_step_of_queries(load: LoadTable, queries: int) -> LoadTable:
    """Returns the table with one step without a warm-up: sessions are one unless the file says
    otherwise, and its length is assumed."""
    of_each_s = min(ASSUMED_S, load.timeout)
    step: dict[str, object] = {"step": queries * executions_of(load) * of_each_s, "warmup": None}
    return _with_one_client(load).model_copy(update=step)


def as_load_of_writes(load: LoadTable) -> LoadTable:
    """Returns the table as that of the writes: short, and from as many sessions as the queries."""
    usual = {key: s for key, s in _OF_WRITES.items() if key not in load.model_fields_set}
    return _with_one_client(load).model_copy(update=usual)


def _with_one_client(load: LoadTable) -> LoadTable:
    given = "clients" in load.model_fields_set
    return load if given else load.model_copy(update={"clients": (1,)})
