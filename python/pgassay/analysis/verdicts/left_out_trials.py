"""Trials that give no figure: idle ones, and lost ones of which one arm has too many; queries that
no figure of a whole set counts.

Enters: the plan, its trials, those that ended with an error. Leaves: which verdicts they withdraw,
and the caveats. Never: replaces a missing value, or says why a trial was lost.

A trial without a commit has no throughput and no latency to compare. Leaving it out would select by
the outcome: an arm that hangs now and then would be judged only by the trials in which it does not
(`idle_rounds.py` does the same for switchbacks and duets). An invalid trial is run again, and a run
is resumed at the trial that ended with an error. That is harmless as long as every arm loses trials
equally often; a trial that was tried several times counts once. Trials of a block that another
server ran again are not lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgassay.analysis.compare.blocks.contrasts import main_effect
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.measures.queries import queries_that_count
from pgassay.analysis.measures.within_run import RUN_AGAIN
from pgassay.analysis.statistics import special
from pgassay.analysis.verdicts.model import IdleTrials, Losses
from pgassay.analysis.verdicts.withdrawal import Level, LevelAt
from pgassay.notes import Importance, Note, Term, Value
from pgassay.plan.model import Arm, Plan
from pgassay.quantities import LoadUnit
from pgassay.trials.model.record import FailedTrial

_MOST_NAMED = 10
"""Queries."""


def idle_trials(
    plan: Plan, trials: Sequence[TrialMeasures], loads: Sequence[float | None]
) -> tuple[IdleTrials, ...]:
    """Finds each arm with at least one idle trial, over whole trials and at each load."""
    if plan.alternates:
        return ()
    found = []
    for place, arm in enumerate(plan.arms):
        own = [trial for trial in trials if trial.arm == arm.id]
        for load in loads:
            measured = [measures for trial in own if (measures := trial.at(load)) is not None]
            idle = sum(measures.transactions == 0 for measures in measured)
            if idle:
                takes = levels_of_arm(plan, place)
                found.append(IdleTrials(arm.id, arm.label, load, idle, len(measured), takes))
    return tuple(found)


def levels_withdrawn(
    found: Sequence[IdleTrials], trials: Sequence[TrialMeasures]
) -> dict[LevelAt, frozenset[str]]:
    """Levels without a verdict → the metrics that keep theirs.

    A metric keeps its verdict where it has a value in every idle trial: nothing is left out then.
    """
    kept: dict[LevelAt, frozenset[str]] = {}
    for one in found:
        known = _known_in(one, trials)
        for level in one.takes:
            at = (*level, one.step)
            kept[at] = kept.get(at, known) & known
    return kept


def idle_trial_caveats(found: Sequence[IdleTrials], step_unit: LoadUnit) -> Iterator[Caveat]:
    """Makes one caveat per arm; per load only where whole trials were not idle."""
    whole = {one.arm for one in found if one.step is None}
    for one in found:
        if one.step is not None and one.arm in whole:
            continue
        note = Note("analysis/verdicts/standstill", {"idle": one.note(step_unit)})
        withdrawn = "analysis/verdicts/standstill-withdrawn"
        yield Caveat.of("standstill", _without_verdict(note, one.takes, withdrawn))


def _without_verdict(note: Note, takes: Sequence[Level], code: str) -> Note:
    """The note, and which verdicts are not given because of it."""
    if not takes:
        return note
    named = tuple(f"{factor} = {level}" for factor, level in takes)
    return Note(code, {"text": note, "named": named})


def levels_of_arm(plan: Plan, place: int) -> tuple[Level, ...]:
    """The levels whose comparison with their baseline uses this arm; none in an A/A run."""
    if plan.calibrates:
        return ()
    return tuple(
        (factor.name, level)
        for factor in plan.factors
        for level in factor.levels[1:]
        if main_effect(plan, factor, level)[place] != 0.0
    )


def _known_in(one: IdleTrials, trials: Sequence[TrialMeasures]) -> frozenset[str]:
    """The metrics that every idle trial has a value of."""
    measured = (trial.at(one.step) for trial in trials if trial.arm == one.arm)
    idle = [set(m.values) for m in measured if m is not None and m.transactions == 0]
    return frozenset(set.intersection(*idle))


_SIGNIFICANCE = 0.05
"""Of the exact binomial test whether one arm loses too many trials; shared by the arms."""
_MOST_REASONS = 3
"""Error messages that a caveat quotes."""


@dataclass(frozen=True)
class LostTrials:
    """How many planned trials of each arm gave no figure, at the first attempt or at any."""

    of: Mapping[str, int]
    """Arm → trials, for every arm of the plan."""
    too_often: tuple[str, ...]
    """Arms that lose more trials than chance explains."""
    takes: tuple[Level, ...]
    """The levels whose verdicts are withdrawn because of it."""
    planned: Mapping[tuple[int, str], int]
    """(number of the planned trial, arm) → its block, for each that was lost."""


def lost_trials(
    plan: Plan, invalid: Sequence[TrialMeasures], failed: Sequence[FailedTrial]
) -> LostTrials:
    """Counts them; nothing is counted where every trial has all arms."""
    # Which trials of a block had run when its server was lost says nothing of their arms.
    own = (one for one in invalid if one.invalid != (RUN_AGAIN,))
    both: tuple[TrialMeasures | FailedTrial, ...] = (*own, *failed)
    planned = {(one.repeats or one.number, one.arm): one.block for one in both}
    of = {arm.id: sum(of_arm == arm.id for _, of_arm in planned) for arm in plan.arms}
    all_lost, arms = sum(of.values()), len(of)
    # Arms that the run has dropped had fewer trials to lose.
    last = max((one.block for one in both), default=0)
    had = {arm: min(last, plan.dropped.get(arm, last)) for arm in of}
    ran = max(1, sum(had.values()))
    too_often = tuple(
        arm
        for arm, lost in of.items()
        if lost and arms * float(special.bdtrc(lost - 1, all_lost, had[arm] / ran)) < _SIGNIFICANCE
    )
    places = [at for at, arm in enumerate(plan.arms) if arm.id in too_often]
    takes = dict.fromkeys(level for at in places for level in levels_of_arm(plan, at))
    return LostTrials(of, too_often, tuple(takes), planned)


def lost_trial_caveats(
    arms: Sequence[Arm],
    lost: LostTrials,
    failed: Sequence[FailedTrial],
    losses: Sequence[Losses] = (),
) -> Iterator[Caveat]:
    """Makes caveats of trials that ended with an error, and of arms that lose more than others.

    Errors matter most where `losses` of a better arm stand beside its verdict.
    """
    if failed:
        reasons = list(dict.fromkeys(one.reason or Term("not known") for one in failed))
        more = (
            Note("analysis/verdicts/more-reasons", {"number": len(reasons) - _MOST_REASONS})
            if len(reasons) > _MOST_REASONS
            else ""
        )
        by_arm = _by_arm({arm.label: sum(one.arm == arm.id for one in failed) for arm in arms})
        values: dict[str, Value] = {
            "n": len(failed),
            "by_arm": Note("analysis/verdicts/in-brackets", {"items": by_arm}) if by_arm else "",
            "items": tuple(reasons[:_MOST_REASONS]),
            "more": more,
        }
        yield Caveat.of(
            "failed-trials",
            Note("analysis/verdicts/failed-trials", values),
            Importance.VERDICT if losses or lost.takes else Importance.SIZE,
        )
    if lost.too_often:
        counts = tuple(
            Note("analysis/verdicts/of-arm", {"count": lost.of[arm.id], "label": arm.label})
            for arm in arms
        )
        note = Note("analysis/verdicts/lost-trials", {"counts": counts})
        withdrawn = "analysis/verdicts/lost-trials-withdrawn"
        yield Caveat.of("lost-trials", _without_verdict(note, lost.takes, withdrawn))


def _by_arm(counts: Mapping[str, int]) -> tuple[Note, ...]:
    """Those that are not 0."""
    return tuple(
        Note("analysis/verdicts/of-arm", {"count": count, "label": label})
        for label, count in counts.items()
        if count
    )


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
