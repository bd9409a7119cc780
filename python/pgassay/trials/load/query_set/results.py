"""What the executions of a query set come to.

Enters: executions. Leaves: a result and interval rows like those of the engine, each query being a
scenario; rows of queries.parquet; the object of query_plans.json. Never: keeps a value of a
parameter, which a plan shows as a constant.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pgassay.notes import Note
from pgassay.stored_notes import coded
from pgassay.trials.load.interval_rows import INTERVAL_NS, Latencies, latency_summary
from pgassay.trials.load.query_set.runner import Execution
from pgassay.trials.load.query_set.session import LOST
from pgassay.trials.load.trace_rows import CONSTANT
from pgassay.trials.model.record import Columns

BACKEND = "queries"
_MOST_CHARACTERS = 500_000
"""Of one plan, as JSON."""
_NAMES = frozenset(
    ("Node Type", "Relation Name", "Index Name", "Alias", "Schema", "Subplan Name", "CTE Name")
)
"""Keys of a plan whose texts hold no constant."""
_COSTS = {
    "hit": "Shared Hit Blocks",
    "read": "Shared Read Blocks",
    "dirtied": "Shared Dirtied Blocks",
    "written": "Shared Written Blocks",
    "temp_read": "Temp Read Blocks",
    "temp_written": "Temp Written Blocks",
    "wal_bytes": "WAL Bytes",
    "rows": "Actual Rows",
}


def result_of(
    executions: Sequence[Execution],
    queries: Sequence[str],
    span: tuple[int, int],
    *,
    clients: int,
    client_cpu_s: float,
    lost: int,
) -> dict[str, Any]:
    """Returns the object of the load's result. Executions that do not count are transactions, too,
    for the server did their work; latencies are of those that count."""
    start_ns, end_ns = span
    seconds = (end_ns - start_ns) / 1e9
    failed = [one for one in executions if one.failed]
    done = len(executions) - len(failed)
    common = {
        "transactions": done,
        "failed": len(failed),
        "tps": done / seconds,
        "latency_ms": _latency(executions),
        "client_cpu_s": client_cpu_s,
    }
    of_steps = {"index": 0, "clients": clients, "measured": True}
    # What lost a connection ends the trial, whatever has failed before it.
    of_each: dict[str, list[Execution]] = {name: [] for name in queries}
    for one in executions:
        of_each[one.query].append(one)
    by_weight = sorted(failed, key=lambda one: (one.found.sqlstate != LOST, one.found.began_ns))
    first = by_weight[0] if by_weight else None
    return {
        "backend": BACKEND,
        "started_ns": start_ns,
        "ended_ns": end_ns,
        "duration_s": seconds,
        **common,
        "skipped": 0,
        "connections": {"count": clients},
        "lost_connections": lost,
        "first_error": None
        if first is None
        else {
            "sqlstate": first.found.sqlstate,
            "message": first.found.message,
            "scenario": first.query,
        },
        "scenarios": [_scenario(name, own, seconds) for name, own in of_each.items()],
        "steps": [{**of_steps, "start_ns": start_ns, "end_ns": end_ns, **common}],
    }


def _scenario(name: str, own: Sequence[Execution], seconds: float) -> dict[str, Any]:
    errors = Counter(one.found.sqlstate for one in own if one.failed)
    done = len(own) - errors.total()
    return {
        "name": name,
        "weight": 1.0,
        "transactions": done,
        "failed": errors.total(),
        "tps": done / seconds,
        "latency_ms": _latency(own),
        "errors": dict(errors),
    }


def _counted_ns(executions: Iterable[Execution]) -> list[int]:
    """The durations that count, in nanoseconds."""
    return [
        one.found.ended_ns - one.found.began_ns
        for one in executions
        if one.repeat and not one.failed
    ]


def _latency(executions: Iterable[Execution]) -> dict[str, float | None]:
    took = _counted_ns(executions)
    if not took:
        return latency_summary(())
    values, counts = np.unique(np.array(took, dtype=np.int64), return_counts=True)
    return latency_summary((Latencies(0, sum(took), values, counts),))


def interval_rows(executions: Sequence[Execution], span: tuple[int, int]) -> Columns:
    """Returns one row per second and query, of the executions that ended in it."""
    start_ns, end_ns = span
    parts: dict[tuple[int, str], list[Execution]] = {}
    for one in executions:
        within = min(max(one.found.ended_ns, start_ns), end_ns - 1) - start_ns
        place = start_ns + within // INTERVAL_NS * INTERVAL_NS
        parts.setdefault((place, one.query), []).append(one)
    rows = []
    for (place, query), own in sorted(parts.items()):
        errors = Counter(one.found.sqlstate for one in own if one.failed)
        took = _counted_ns(own)
        buckets = sorted(Counter(took).items())
        rows.append(
            {
                "start_ns": place,
                "step": 0,
                "measured": True,
                "scenario": query,
                "transactions": len(own) - errors.total(),
                "failed": errors.total(),
                "latency_sum_ns": sum(took),
                "latency_ns": [value for value, _ in buckets],
                "latency_count": [count for _, count in buckets],
                "error_sqlstate": list(errors),
                "error_count": list(errors.values()),
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def query_rows(executions: Sequence[Execution]) -> Columns:
    """Returns the columns of queries.parquet."""
    return {
        "query": [one.query for one in executions],
        "arm": [one.arm for one in executions],
        "repeat": [one.repeat for one in executions],
        "began_ns": [one.found.began_ns for one in executions],
        "ms": [None if one.failed else one.ms for one in executions],
        "rows": [None if one.failed or one.is_explained else one.found.rows for one in executions],
        "sqlstate": [one.found.sqlstate or None for one in executions],
        "discarded": [not one.repeat for one in executions],
    }


def plans_of(executions: Iterable[Execution], private: Collection[str]) -> dict[str, Any]:
    """Returns the object of query_plans.json: for each query and arm its plan and what it took, or
    the reason why there is none, and the number of its answer where that was taken. Queries of
    `private` have parameters."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in executions:
        if one.repeat == 0 and (one.query, one.arm) not in found:
            found[one.query, one.arm] = _plan_of(one, one.query in private)
        if one.found.answer is not None and not one.failed:
            found[one.query, one.arm]["answer"] = f"{one.found.answer:016x}"
    return {"queries": [found[key] for key in sorted(found)]}


def _plan_of(one: Execution, is_private: bool) -> dict[str, Any]:
    named = {"query": one.query, "arm": one.arm}
    if one.failed:
        values = {"sqlstate": one.found.sqlstate, "message": one.found.message}
        return {**named, **coded("reason", Note("trials/load/query-failed", values))}
    if not one.is_explained:
        return {**named, **coded("reason", Note("trials/load/query-not-explained"))}
    plan = json.loads(one.found.first or b"[]")
    top: Mapping[str, Any] = plan[0]["Plan"]
    sent = plan[0].get("Serialization", {})  # what lies apart from its row is read by this
    costs = {name: top.get(key, 0) + sent.get(key, 0) for name, key in _COSTS.items()}
    costs |= {"planning_ms": plan[0]["Planning Time"], "execution_ms": plan[0]["Execution Time"]}
    if len(one.found.first or b"") > _MOST_CHARACTERS:
        too_large = Note("trials/plans/too-large", {"kilobytes": _MOST_CHARACTERS // 1000})
        return {**named, "costs": costs, **coded("reason", too_large)}
    return {**named, "plan": _without_constants(plan) if is_private else plan, "costs": costs}


def _without_constants(value: Any, key: str = "") -> Any:
    if isinstance(value, dict) and key != "Settings":
        return {name: _without_constants(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_constants(one, key) for one in value]
    if isinstance(value, str) and key not in _NAMES:
        return CONSTANT.sub("?", value)
    return value
