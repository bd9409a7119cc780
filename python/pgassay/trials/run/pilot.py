"""How often each query of a set is executed in a trial, by a first trial that does not count.

Enters: a plan, how to run a trial. Leaves: the plan with a number for each query, which all arms
and blocks share. Never: stores a trial, or compares arms.

The time of few executions of a short query scatters with what else the processors do. Executions
that follow each other cost their time alone, so a query gets as many as half a second takes; of a
large set as many as its share of ten seconds, so that blocks do not become so long that few do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.spec.load.of_queries import FEWEST, passes_of
from pgassay.trials.model.record import TrialRecord

_SPENT_MS = 500.0
"""On the executions of a query that count, in a session and a trial of one arm, at most."""
_SPENT_ON_ALL_MS = 10_000.0
"""On those of all queries, likewise."""
_MOST = 500
"""Executions."""
_AROUND_MS = 0.5
"""What beginning and ending the transaction of an execution takes beside it, at least."""


def with_executions(
    plan: Plan, run: Callable[[Sequence[PlannedTrial]], Iterable[TrialRecord]]
) -> Plan:
    """Returns the plan with the executions of each query, where a pilot is to say: the baseline's
    trial, or, where arms run at once, that of all. `run` carries it out."""
    if plan.queries is None or not plan.queries.needs_pilot:
        return plan
    first = plan.block(1)
    trials = first if plan.together else [one for one in first if one.arm == plan.arms[0].id]
    took: dict[str, list[float]] = {}
    """Of each arm the median, in milliseconds; none where the query failed."""
    records = list(run(trials))
    for record in records:
        columns = (record.queries[name] for name in ("query", "ms", "discarded"))
        found: dict[str, list[float]] = {}
        for query, ms, discarded in zip(*columns, strict=True):
            took.setdefault(query, [])
            if ms is not None and not discarded:
                found.setdefault(query, []).append(ms)
        for query, own in found.items():
            took[query].append(median(own))
    around_ms = _around_ms(records)
    spent_ms = min(_SPENT_MS, _SPENT_ON_ALL_MS / max(1, len(took)))
    chosen = {
        query: executions_for(max(own, default=math.inf), around_ms[query], spent_ms)
        for query, own in took.items()
    }
    once_ms = {query: max(own, default=0.0) for query, own in took.items()}
    load_s = sum(
        (count + passes_of(count)) * (once_ms[query] + around_ms[query])
        for query, count in chosen.items()
    )
    assumed_s = sum(step.duration_s for step in plan.steps)
    return replace(
        plan,
        queries=replace(plan.queries, chosen=chosen),
        trial_s=plan.trial_s - assumed_s + load_s / 1e3,
    )


def executions_for(ms: float, around_ms: float, spent_ms: float = _SPENT_MS) -> int:
    """Returns how many executions of so many milliseconds fill `spent_ms`; where what is around
    each takes longer than the query, they may last twice as long with it."""
    longest = max(ms, (ms + around_ms) / 2, spent_ms / _MOST)
    return max(FEWEST, min(_MOST, math.ceil(spent_ms / longest)))


def _around_ms(records: Sequence[TrialRecord]) -> Mapping[str, float]:
    """What lies between two executions of a query: the median. Sessions that execute at the same
    time leave none to see."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        columns = (record.queries[name] for name in ("query", "began_ns", "ms", "discarded"))
        for query, began_ns, ms, discarded in zip(*columns, strict=True):
            own = spans.setdefault(query, [])
            if ms is not None and not discarded:
                own.append((began_ns / 1e6, ms))
    return {
        query: max(_AROUND_MS, median(_gaps(own)) if len(own) > 1 else 0.0)
        for query, own in spans.items()
    }


def _gaps(spans: Iterable[tuple[float, float]]) -> list[float]:
    pairs = pairwise(sorted(spans))
    return [after - before - ms for (before, ms), (after, _) in pairs]
