"""The verdict of a query that fails in some trial: in which arm it fails more often.

Enters: the trials, the effect on a query without an interval, the run's rule. Leaves: the same with
a verdict where failures decide one. Never: uses a time, for what is left of a query that fails is a
selection.

A block counts in which it failed at one level alone. If the level were all the same, either would
be as likely as the other, so this is a sign test. It holds at every look, with the share of the
error that each query has at each level.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pgassay.analysis.compare.blocks.contrasts import pair_blocks
from pgassay.analysis.compare.model import FEW_BLOCKS, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.queries.model import QueryEffect, QueryFailures, TrialQueries
from pgassay.analysis.statistics.sequential import sign_evidence
from pgassay.plan.model import Factor, Plan

_ERROR = 0.05
_ROUNDING = 1e-9
"""Of a share of the arms that have a level."""


def failures_of(trials: Sequence[TrialQueries], query: str) -> QueryFailures:
    """Returns in how many of the trials that ran it the query failed, and how."""
    errors = Counter[str]()
    for one in (each for each in trials if query in each.failed):
        errors.update(one.failed[query])
    ran = [one for one in trials if one.ran(query)]
    return QueryFailures(sum(query in one.failed for one in ran), len(ran), dict(errors))


def judged_by_failures(
    effect: QueryEffect,
    plan: Plan,
    trials: Sequence[TrialQueries],
    factor: Factor,
    rule: Rule,
) -> QueryEffect:
    """Returns the effect with its verdict, or with the further blocks that would give one if the
    query goes on to fail as it did; none where the run has not half of them left."""
    enough = min(effect.failures.trials, effect.baseline_failures.trials) >= FEW_BLOCKS
    if enough and effect.fails_only_here:
        return replace(effect, verdict=Verdict.WORSE, blocks_to_decide=0)
    if enough and effect.baseline_failures.always and not effect.failures.failed:
        return replace(effect, verdict=Verdict.BETTER, blocks_to_decide=0)
    vectors = {
        (one.block, one.arm): np.array([float(effect.query in one.failed)])
        for one in trials
        if one.ran(effect.query)
    }
    pairs = pair_blocks(vectors, plan, factor, effect.level) if vectors else None
    if pairs is None:
        return effect
    more, fewer = (
        float(np.count_nonzero(sign * pairs.differences > _ROUNDING)) for sign in (1.0, -1.0)
    )
    enough_evidence = math.log(rule.simultaneous / _ERROR)
    blocks = len(pairs.differences)
    left = 2 * (plan.last_block - max(one.block for one in trials))
    for further in range(max(0, left) + 1) if more != fewer else ():
        times = 1.0 + further / blocks
        if sign_evidence(times * more, times * fewer) < enough_evidence:
            continue
        if further:
            return replace(effect, blocks_to_decide=further)
        verdict = Verdict.WORSE if more > fewer else Verdict.BETTER
        return replace(effect, verdict=verdict, blocks_to_decide=0)
    return effect
