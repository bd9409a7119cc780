"""Short trials: does throughput, or the difference between arms, change within the trial?

Enters: the plan, the courses of trials. Leaves: caveats. Never: removes data from any figure.

A step of fewer intervals than steadiness.py needs cannot be judged by itself. Over all trials of an
arm, the change from the first half of the measured time to the second can: one figure per trial,
an interval over trials; and its difference between arms, one figure per block. In a run that may
end early these intervals hold at every look.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.contrasts import pair_blocks
from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.secondary import critical_for_many
from pgassay.analysis.curves.model import Steadiness, StepSteadiness
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.measures.model import Caveat, Importance
from pgassay.analysis.statistics.intervals import mean_estimate
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.language import clauses, decimals, tr
from pgassay.plan.model import Plan

_FEWEST = 4
"""Intervals of a step that has two halves."""


def half_caveats(
    plan: Plan,
    courses: Sequence[TrialCourse],
    steps: Sequence[StepSteadiness],
    verdicts: Sequence[Comparison],
) -> Iterator[Caveat]:
    """Of trials that are too short to be judged one by one."""
    unknown = {step.trial for step in steps if step.course is Steadiness.UNKNOWN}
    judged = {step.trial for step in steps if step.course is not Steadiness.UNKNOWN}
    changes = {
        (course.block, course.arm): change
        for course in courses
        if course.number in unknown - judged and (change := _change(course)) is not None
    }
    yield from _of_arms(plan, changes)
    yield from _of_differences(plan, changes, verdicts)


def _change(course: TrialCourse) -> NDArray[np.float64] | None:
    """The logarithm of the second half's throughput over the first's, averaged over steps."""
    found = []
    for span in course.steps:
        places = course.whole(span)
        middle = len(places) // 2
        if len(places) < _FEWEST:
            continue
        halves = [float(course.tps[part].mean()) for part in (places[:middle], places[-middle:])]
        if min(halves) > 0.0:
            found.append(math.log(halves[1] / halves[0]))
    return np.array([np.mean(found)]) if found else None


def _of_arms(plan: Plan, changes: dict[tuple[int, str], NDArray[np.float64]]) -> Iterator[Caveat]:
    moved = []
    for arm in plan.arms:
        own = np.array([value[0] for (_, of), value in sorted(changes.items()) if of == arm.id])
        if len(own) < 2:
            continue
        critical = critical_for_many(rule_of(plan), len(own), 0.05 / len(plan.arms))
        found = mean_estimate(own, critical)
        if _is_clear(found.low, found.high, found.value, plan.smallest_effect):
            moved.append(
                tr(
                    "{change} in {arm}",
                    change=_signed(ratio_pct(found.value)),
                    arm=arm.label or tr("all trials"),
                )
            )
    if moved:
        yield Caveat(
            "not-settled",
            tr(
                "throughput changes from the first half of the measured time to the second "
                "({items}): the trials had not settled; make load.warmup or load.step longer",
                items=clauses(moved),
            ),
        )


def _of_differences(
    plan: Plan,
    changes: dict[tuple[int, str], NDArray[np.float64]],
    verdicts: Sequence[Comparison],
) -> Iterator[Caveat]:
    for verdict in verdicts:
        factor = next((one for one in plan.factors if one.name == verdict.factor), None)
        if verdict.step is not None or factor is None or verdict.effect_pct is None:
            continue
        pairs = pair_blocks(changes, plan, factor, verdict.level, only_needed=True)
        if pairs is None or verdict.metric != "tps" or len(pairs.level) < 2:
            continue
        critical = critical_for_many(rule_of(plan), len(pairs.level), 0.05 / len(verdicts))
        found = mean_estimate(pairs.differences[:, 0], critical)
        if not _is_clear(found.low, found.high, found.value, plan.smallest_effect):
            continue
        whole = math.log1p(verdict.effect_pct / 100.0)
        first, second = (ratio_pct(whole + sign * found.value / 2.0) for sign in (-1.0, 1.0))
        turns = verdict.verdict in (Verdict.BETTER, Verdict.WORSE) and (
            first * second < 0.0 or abs(second) < 100.0 * plan.smallest_effect
        )
        yield Caveat(
            "difference-changes",
            tr(
                "the difference of {factor} = {level} against {baseline} changes within "
                "trials: about {signed} in the first half of the measured time, {second} in "
                "the second; longer trials would give another size",
                factor=verdict.factor,
                level=verdict.level,
                baseline=verdict.baseline,
                signed=_signed(first),
                second=_signed(second),
            ),
            importance=Importance.VERDICT if turns else Importance.SIZE,
        )


def _signed(change_pct: float) -> str:
    """Such as `−1.2 %`, with a true minus sign."""
    return f"{decimals(change_pct, '+.1f')} %".replace("-", "\u2212")


def _is_clear(low: float | None, high: float | None, value: float, least: float) -> bool:
    return (
        low is not None
        and high is not None
        and (low > 0.0 or high < 0.0)
        and abs(value) >= math.log1p(least)
    )
