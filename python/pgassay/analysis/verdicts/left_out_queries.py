"""Queries of a set that are in no figure of the whole.

Enters: the plan, the trials. Leaves: a caveat that names them. Never: judges a query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.measures.queries import queries_that_count
from pgassay.notes import Note, Value
from pgassay.plan.model import Plan

_MOST_NAMED = 10


def left_out_query_caveats(plan: Plan, trials: Sequence[TrialMeasures]) -> Iterator[Caveat]:
    """Yields a caveat where queries failed in some trial: the times of all are without them."""
    if plan.queries is None:
        return
    every = {one.scenario for trial in trials for one in trial.scenarios}
    left_out = sorted(every - queries_that_count(trials))
    if left_out:
        names = tuple(left_out[:_MOST_NAMED])
        more = (
            Note("analysis/verdicts/more-queries", {"number": len(left_out) - _MOST_NAMED})
            if len(left_out) > _MOST_NAMED
            else ""
        )
        values: dict[str, Value] = {"n": len(left_out), "names": names, "more": more}
        yield Caveat.of("left-out-queries", Note("analysis/verdicts/left-out-queries", values))
