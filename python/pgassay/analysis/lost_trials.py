"""Trials that gave no figure, and what that does to verdicts where they are of one arm.

Enters: the plan, invalid trials, those that broke off and were not stored. Leaves: whose verdicts
they take, and the doubts. Never: says why; a guard or an error did.

A trial that does not count is run again, and one that broke off is where a run is resumed. That
chooses no answer as long as it strikes arms alike: each is planned as often as another. Where it
strikes one arm oftener than chance explains, that arm is judged by the trials that it let pass. A
trial that was tried often is one trial: a run is always resumed at the one that broke off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scipy import special

from pgassay.analysis.model import Doubt, TrialMeasures
from pgassay.analysis.standstills import levels_of
from pgassay.analysis.withdrawing import Level
from pgassay.plan.model import Plan
from pgassay.trials.record import FailedTrial

_CHANCE = 0.05
"""p below which so many of one arm's are no chance: exact binomial, shared by the arms."""
_TOLD = 3
"""Reasons of broken trials that are told at most."""


@dataclass(frozen=True)
class LostTrials:
    """How many planned trials of each arm gave no figure, at the first try or at any."""

    of: Mapping[str, int]
    """Arm → trials; every arm of the plan is in it."""
    too_often: tuple[str, ...]
    """Arms that have more of them than chance explains."""
    takes: tuple[Level, ...]
    """The levels whose verdicts are not given for it."""


def lost_trials(
    plan: Plan, invalid: Sequence[TrialMeasures], failed: Sequence[FailedTrial]
) -> LostTrials:
    """Counted over the run; none where all arms are in each trial."""
    both: tuple[TrialMeasures | FailedTrial, ...] = (*invalid, *failed)
    planned = {(one.repeats or one.number, one.arm) for one in both}
    of = {arm.id: sum(of_arm == arm.id for _, of_arm in planned) for arm in plan.arms}
    all_lost, arms = sum(of.values()), len(of)
    too_often = tuple(
        arm
        for arm, lost in of.items()
        if lost and arms * float(special.bdtrc(lost - 1, all_lost, 1.0 / arms)) < _CHANCE
    )
    places = [at for at, arm in enumerate(plan.arms) if arm.id in too_often]
    takes = dict.fromkeys(level for at in places for level in levels_of(plan, at))
    return LostTrials(of, too_often, tuple(takes))


def lost_doubts(plan: Plan, lost: LostTrials, failed: Sequence[FailedTrial]) -> Iterator[Doubt]:
    """Trials that broke off, and arms that lose more than others."""
    if failed:
        reasons = list(dict.fromkeys(one.reason for one in failed))
        more = f"; and {len(reasons) - _TOLD} more" if len(reasons) > _TOLD else ""
        trials_are = "trials" if len(failed) > 1 else "trial"
        yield Doubt(
            "failed-trials",
            f"{len(failed)} {trials_are} broke off and left no figure{_of_arms(plan, failed)}:"
            f" {'; '.join(reasons[:_TOLD])}{more}",
        )
    if lost.too_often:
        counts = ", ".join(f"{lost.of[arm.id]} of {arm.label}" for arm in plan.arms)
        text = (
            f"trials that gave no figure are of one arm more often than chance explains ({counts})"
        )
        if lost.takes:
            named = ", ".join(f"{factor} = {level}" for factor, level in lost.takes)
            text += (
                "; an arm that breaks its trials is judged only by those that it does not, so there"
                f" is no verdict of {named}: look for what breaks them"
            )
        yield Doubt("lost-trials", text)


def _of_arms(plan: Plan, failed: Sequence[FailedTrial]) -> str:
    counts = {arm.label: sum(one.arm == arm.id for one in failed) for arm in plan.arms}
    told = ", ".join(f"{count} of {label}" for label, count in counts.items() if count)
    return f" ({told})" if told else ""
