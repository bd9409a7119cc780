"""Trials of an arm of its own in which nothing was committed, and what that does to verdicts.

Enters: the plan, its trials. Leaves: which arms stood still in how many trials, whose verdicts that
takes, and the doubts. Never: puts a value in place of one that is not there.

A trial without a commit has no throughput and no latency that could be compared. To leave it out is
to choose by the outcome: an arm that stands still now and then would be judged by the trials in
which it does not. Of arms that take turns inside trials `round_doubts.py` says the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.contrasts import main_effect
from pgassay.analysis.model import Doubt, Standstill, TrialMeasures
from pgassay.analysis.withdrawing import Level, LevelAt
from pgassay.plan.model import Plan


def standstills(
    plan: Plan, trials: Sequence[TrialMeasures], steps: Sequence[float | None]
) -> tuple[Standstill, ...]:
    """Each arm that stood still, over whole trials and by step; one trial is enough."""
    if plan.alternates:
        return ()
    found = []
    for place, arm in enumerate(plan.arms):
        own = [trial for trial in trials if trial.arm == arm.id]
        for step in steps:
            measured = [measures for trial in own if (measures := trial.at(step)) is not None]
            still = sum(measures.transactions == 0 for measures in measured)
            if still:
                takes = levels_of(plan, place)
                found.append(Standstill(arm.id, arm.label, step, still, len(measured), takes))
    return tuple(found)


def taken(
    found: Sequence[Standstill], trials: Sequence[TrialMeasures]
) -> dict[LevelAt, frozenset[str]]:
    """(factor, level, step) of the verdicts that are not given → metrics that have a value even
    where nothing was committed, so that their verdicts leave nothing out."""
    kept: dict[LevelAt, frozenset[str]] = {}
    for one in found:
        for level in one.takes:
            at = (*level, one.step)
            known = _known_in(one, trials)
            kept[at] = kept.get(at, known) & known
    return kept


def _known_in(one: Standstill, trials: Sequence[TrialMeasures]) -> frozenset[str]:
    """The metrics that each of these trials has."""
    measured = (trial.at(one.step) for trial in trials if trial.arm == one.arm)
    still = [set(m.values) for m in measured if m is not None and m.transactions == 0]
    return frozenset(set.intersection(*still))


def standstill_doubts(plan: Plan, found: Sequence[Standstill]) -> Iterator[Doubt]:
    """Each arm with the number of its trials; a step only where the trial as a whole did not."""
    whole = {one.arm for one in found if one.step is None}
    for one in found:
        if one.step is not None and one.arm in whole:
            continue
        text = f"not one transaction succeeded in {standing(one, plan.step_unit)}"
        if one.takes:
            text += (
                "; an arm that stands still would be judged only by when it does not, so there is"
                f" no verdict of {_named(one.takes)}: look for what stops it"
            )
        yield Doubt("standstill", text)


def standing(one: Standstill, unit: str) -> str:
    """Such as `3 of 9 trials of wal_level = logical at 8 clients`."""
    at = "" if one.step is None else f" at {one.step:g} {unit}"
    return f"{one.trials} of {one.of} trials of {one.label}{at}"


def levels_of(plan: Plan, place: int) -> tuple[Level, ...]:
    """The levels whose comparison with their baseline this arm is a part of; A/A has no verdict."""
    if plan.calibrates:
        return ()
    return tuple(
        (factor.name, level)
        for factor in plan.factors
        for level in factor.levels[1:]
        if main_effect(plan, factor, level)[place] != 0.0
    )


def _named(levels: Sequence[Level]) -> str:
    return ", ".join(f"{factor} = {level}" for factor, level in levels)
