"""Rounds of a switchback or duet in which some arm committed nothing.

Enters: the plan, its trials. Leaves: how many rounds are left out, whether the others allow a
verdict, and the caveats. Never: replaces a missing value.

A round in which an arm committed nothing has no ratio of arms. Leaving it out selects by the
outcome: an arm that hangs now and then is judged by the rounds in which it does not. A few such
rounds are harmless; too many, or too many of one arm, withdraw the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgassay.analysis.compare.alternating.rounds import FEWEST_ROUNDS
from pgassay.analysis.compare.blocks.contrasts import all_rounds
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics import special
from pgassay.notes import Note, Value
from pgassay.plan.model import Arm, Plan
from pgassay.plan.switchback import rounds_of

_MOST_LOST = 0.01
"""Share of rounds that may be left out; significantly more withdraw the verdicts."""
_SIGNIFICANCE = 0.05
"""Of the exact binomial tests for that share, and for equal numbers in all arms."""


@dataclass(frozen=True)
class IdleRounds:
    """Rounds in which some arm has no value of the primary metric."""

    rounds: int
    """All rounds, including these."""
    lost: int
    idle: Mapping[str, int]
    """Arm → its slices without a commit, for every arm of the plan."""
    planned: int = 0
    """Rounds of the run if it goes on to its last block."""

    @property
    def forbid_a_verdict(self) -> bool:
        """Whether too many rounds are left out, or too many because of one arm.

        If no more than the allowed share is idle in truth, each test says so wrongly in at most
        one analysis of twenty (exact binomial).
        """
        if not self.lost:
            return False
        if self._too_many_of(self.rounds):
            return True
        all_idle, arms = sum(self.idle.values()), len(self.idle)
        as_many = special.bdtrc(max(self.idle.values()) - 1, all_idle, 1.0 / arms)
        return bool(arms * as_many < _SIGNIFICANCE)

    @property
    def for_good(self) -> bool:
        """Whether there are too many even if the rest of the run has none."""
        return bool(self.lost) and self._too_many_of(max(self.rounds, self.planned))

    def _too_many_of(self, rounds: int) -> bool:
        return bool(special.bdtrc(self.lost - 1, rounds, _MOST_LOST) < _SIGNIFICANCE)


def idle_rounds(plan: Plan, trials: Sequence[TrialMeasures]) -> IdleRounds:
    """Counts them over all trials; none in other designs, or where no slice has the metric."""
    idle = {arm.id: 0 for arm in plan.arms}
    counted = [_of_trial(trial, plan.metric) for trial in trials if plan.alternates]
    if not any(has_metric for has_metric, _, _ in counted):
        return IdleRounds(0, 0, idle)
    lost = 0
    for _, _, slices in counted:
        lost += len({round_ for round_, _ in slices})
        for _, arm in slices:
            idle[arm] += 1
    planned = sum(len(rounds_of(plan, trial)) for trial in plan.trials) if lost else 0
    return IdleRounds(sum(rounds for _, rounds, _ in counted), lost, idle, planned)


_OfTrial = tuple[bool, int, list[tuple[int, str]]]


def _of_trial(trial: TrialMeasures, metric: str) -> _OfTrial:
    """Whether a slice has the metric; the number of rounds; round and arm of each idle slice."""
    key = ("idle", metric)
    if key not in trial.worked_out:
        trial.worked_out[key] = (
            any(metric in one.values for one in trial.turns),
            len({one.round for one in trial.turns}),
            [(one.round, one.arm) for one in trial.turns if one.values.get(metric, 0.0) <= 0.0],
        )
    found: _OfTrial = trial.worked_out[key]
    return found


def round_caveats(
    plan: Plan, trials: Sequence[TrialMeasures], idle: IdleRounds
) -> Iterator[Caveat]:
    """Rounds and trials that are left out, and why."""
    if not plan.alternates:
        return
    if idle.lost:
        yield Caveat.of("idle-rounds", _idle(plan.arms, idle))
    counted = rounds_that_count(plan, trials)
    short = {number: n for number, n in counted.items() if n < FEWEST_ROUNDS}
    if not short or not any(counted.values()):
        return
    if len(short) == len(counted):
        note = Note("analysis/verdicts/few-rounds-in-all", {"fewest": FEWEST_ROUNDS})
        yield Caveat.of("few-rounds", note)
        return
    for number, n in short.items():
        values = {"number": number, "n": n, "fewest": FEWEST_ROUNDS}
        yield Caveat.of("few-rounds", Note("analysis/verdicts/few-rounds", values))


def rounds_that_count(plan: Plan, trials: Sequence[TrialMeasures]) -> dict[int, int]:
    """Trial → its rounds in which every arm has a value of the primary metric."""
    metric = METRICS[plan.metric]
    return {t.number: len(all_rounds(metric, [t], plan).blocks) for t in trials}


def _idle(arms: Sequence[Arm], idle: IdleRounds) -> Note:
    by_arm = tuple(
        Note("analysis/verdicts/of-arm", {"count": idle.idle[arm.id], "label": arm.label})
        for arm in arms
    )
    values: dict[str, Value] = {"lost": idle.lost, "rounds": idle.rounds, "by_arm": by_arm}
    found = Note("analysis/verdicts/idle-rounds", values)
    if idle.forbid_a_verdict:
        return Note("analysis/verdicts/idle-rounds-withdrawn", {"text": found})
    return found
