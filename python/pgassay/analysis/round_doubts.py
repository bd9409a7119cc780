"""Rounds of slices that do not count, and what that does to a comparison of arms that alternate.

Enters: the plan, its trials. Leaves: how many rounds each arm is lacking in, whether a verdict may
rest on the others, and the doubts. Never: puts a value in place of one that is not there.

A round in which an arm did nothing has no ratio of arms. To leave it out is to choose by the
outcome: an arm that stands still now and then is judged by the rounds in which it does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scipy import special

from pgassay.analysis.contrasts import all_rounds
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import Doubt, TrialMeasures
from pgassay.analysis.rounds import FEWEST_ROUNDS
from pgassay.plan.model import Plan
from pgassay.plan.turns import rounds_of

_MOST_LOST = 0.01
"""Share of rounds that may be lost; surely more, and no verdict is given."""
_CHANCE = 0.05
"""p of such a share, and of the arms' lacking alike, below which none is given."""


@dataclass(frozen=True)
class IdleRounds:
    """Rounds in which some arm has no value of the primary metric."""

    rounds: int
    """Of all trials, these among them."""
    lost: int
    idle: Mapping[str, int]
    """Arm → slices of its own in which nothing ended; every arm of the plan is in it."""
    planned: int = 0
    """Rounds that the run has at most, where it goes on to its last block."""

    @property
    def forbid_a_verdict(self) -> bool:
        """Whether so many are lost, or of one arm so many more, that the rest are a choice.

        Where no more than the allowed share are idle in truth, it is said of too many in one look
        of twenty at most (exact binomial).
        """
        if not self.lost:
            return False
        if self._too_many_of(self.rounds):
            return True
        all_idle, arms = sum(self.idle.values()), len(self.idle)
        as_many = special.bdtrc(max(self.idle.values()) - 1, all_idle, 1.0 / arms)
        return bool(arms * as_many < _CHANCE)

    @property
    def for_good(self) -> bool:
        """Whether there are too many of them however well the rest of the run goes."""
        return bool(self.lost) and self._too_many_of(max(self.rounds, self.planned))

    def _too_many_of(self, rounds: int) -> bool:
        return bool(special.bdtrc(self.lost - 1, rounds, _MOST_LOST) < _CHANCE)


def idle_rounds(plan: Plan, trials: Sequence[TrialMeasures]) -> IdleRounds:
    """Counted over all trials; none where arms do not take turns, or no slice has the metric."""
    idle = {arm.id: 0 for arm in plan.arms}
    rounds: set[tuple[int, int]] = set()
    lost: set[tuple[int, int]] = set()
    turns = [(trial.number, turn) for trial in trials for turn in trial.turns]
    if plan.alternates and any(plan.metric in turn.values for _, turn in turns):
        for number, turn in turns:
            rounds.add((number, turn.round))
            if turn.values.get(plan.metric, 0.0) <= 0.0:
                lost.add((number, turn.round))
                idle[turn.arm] += 1
    planned = sum(len(rounds_of(plan, trial)) for trial in plan.trials) if lost else 0
    return IdleRounds(len(rounds), len(lost), idle, planned)


def round_doubts(plan: Plan, trials: Sequence[TrialMeasures], idle: IdleRounds) -> Iterator[Doubt]:
    """What is left out and why."""
    if not plan.alternates:
        return
    if idle.lost:
        yield Doubt("idle-rounds", _idle_text(plan, idle))
    yield from _few_rounds(plan, trials)


def _idle_text(plan: Plan, idle: IdleRounds) -> str:
    of_arms = ", ".join(f"{idle.idle[arm.id]} of {arm.label}" for arm in plan.arms)
    text = (
        f"{idle.lost} of {idle.rounds} rounds are left out, because in a slice of theirs nothing"
        f" ended ({of_arms})"
    )
    if not idle.forbid_a_verdict:
        return text
    return (
        f"{text}; an arm that stands still is judged only by when it does not, so no verdict is"
        ' given: look for what stops it, make design.slice longer, or use mode = "blocks"'
    )


def _few_rounds(plan: Plan, trials: Sequence[TrialMeasures]) -> Iterator[Doubt]:
    """Trials that are too short to tell their own spread."""
    counted = rounds_that_count(plan, trials)
    short = {number: n for number, n in counted.items() if n < FEWEST_ROUNDS}
    if not short or not any(counted.values()):
        return
    if len(short) == len(counted):
        yield Doubt(
            "few-rounds",
            f"no trial has {FEWEST_ROUNDS} rounds in which every arm did something, so no interval"
            " can be given; make load.step longer, or design.slice shorter",
        )
        return
    for number, n in short.items():
        yield Doubt(
            "few-rounds",
            f"trial {number} is left out: {n} of its rounds count, fewer than {FEWEST_ROUNDS}",
        )


def rounds_that_count(plan: Plan, trials: Sequence[TrialMeasures]) -> dict[int, int]:
    """Trial → its rounds in which every arm has a value of the primary metric."""
    metric = METRICS[plan.metric]
    return {t.number: len(all_rounds(metric, [t], plan).blocks) for t in trials}
