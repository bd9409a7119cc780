"""The statements of a replayed trace, which every trial repeats, as the queries of a set.

Enters: the plan, the trials that count, levels without a verdict. Leaves: a `QuerySet`, in which a
statement weighs as much as its calls. Never: compares a statement that ended otherwise in some
trial, or that some trial has no figures of.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pgassay.analysis.queries.effects import query_set
from pgassay.analysis.queries.model import QuerySet, TrialQueries
from pgassay.plan.model import Plan
from pgassay.samples.forms.trial import TrialFile


def replayed_statements(
    plan: Plan, trials: Sequence[TrialFile], withdrawn: Collection[tuple[str, str]] = ()
) -> QuerySet | None:
    """Returns what the trials say of each statement, called by its number and its first word, such
    as `7 SELECT`; None of another load.

    A trial has figures of the statements that took most of its time, so those near the end of its
    list are known of some trials only: these are left out. A statement that fails equally often in
    every trial fails as it did at the source.
    """
    found = [
        {f"{each.number} {each.word}": each for each in one.load.replay.statements}
        for one in trials
        if one.load.replay is not None
    ]
    if plan.alternates or not found or len(found) < len(trials):
        return None
    known = set(found[0]).intersection(*found[1:])
    otherwise = {name for name in known if len({own[name].failed for own in found}) > 1}
    queries = [
        TrialQueries(
            one.number,
            one.block,
            one.arm,
            {name: ms for name in known if (ms := own[name].mean_ms) is not None},
            failed={name: {} for name in otherwise if own[name].failed},
        )
        for one, own in zip(trials, found, strict=True)
    ]
    weights = {name: float(found[0][name].count) for name in known}
    return query_set(plan, queries, weights, withdrawn)
