"""Was a step of a trial steady, and what warm-up would it have needed?

Enters: the courses of trials, the smallest effect that matters. Leaves: a `StepSteadiness` each,
and caveats where too many were not steady. Never: removes data from any figure.

Sources: change_points.py, trend.py; White 1997 and Franklin and White 2008 (MSER-5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.model import Shift, Steadiness, StepSteadiness, Trend
from pgassay.analysis.measures.courses.trial_course import StepSpan, TrialCourse
from pgassay.analysis.measures.model import Caveat
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.change_points import change_points
from pgassay.analysis.statistics.prewhitening import cycle_phase, without_cycle
from pgassay.analysis.statistics.trend import drift
from pgassay.notes import Note, Value
from pgassay.plan.model import Plan
from pgassay.plan.steps import load_of

Array = NDArray[np.float64]
FEWEST_INTERVALS = 30
_LONGEST_WARMUP = 1 / 3
_BATCH = 5
_CHANCE = 0.10
"""Share of steady trials that may seem unsteady; about 5 % do
(docs/measured/validation-steadiness.md)."""
_RARE = 0.06


@dataclass(frozen=True)
class _Unrest:
    shifts: tuple[Shift, ...]
    trend: Trend | None
    drifts: bool

    @property
    def any(self) -> bool:
        return bool(self.shifts) or self.drifts


def step_courses(
    courses: Sequence[TrialCourse], smallest_effect: float
) -> tuple[StepSteadiness, ...]:
    """Judges every measured step of every trial."""
    return tuple(
        _judge(course, span, smallest_effect) for course in courses for span in course.steps
    )


def steadiness_caveats(plan: Plan, steps: Sequence[StepSteadiness]) -> list[Caveat]:
    """Makes one caveat per step at which more trials are unsteady than chance explains."""
    found = []
    for level in dict.fromkeys(step.step for step in steps):
        known = [s for s in steps if s.step == level and s.course is not Steadiness.UNKNOWN]
        at: Value = (
            Note.of("analysis/curves/at-load", load=load_of(level, plan.step_unit))
            if len(plan.step_levels()) > 1
            else ""
        )
        for label, unsteady, of in _more_than_chance(plan, known, Steadiness.UNSTEADY):
            first = unsteady[0]
            note = Note(
                "analysis/curves/no-steady-state",
                {
                    **_which(at, label, len(unsteady), of),
                    "trial": first.trial,
                    "why": first.cause or "",
                },
            )
            found.append(Caveat.of("no-steady-state", note))
        for label, warming, of in _more_than_chance(plan, known, Steadiness.WARMING):
            longest = math.ceil(max(step.warmup_s for step in warming))
            values = {**_which(at, label, len(warming), of), "longest": longest}
            found.append(Caveat.of("warm-up", Note("analysis/curves/warm-up", values)))
    return found


def _which(at: Value, label: str, number: int, of: int) -> dict[str, Value]:
    """The load, the arm and the number of the trials that a caveat is about."""
    of_arm = Note("analysis/curves/of-arm", {"label": label}) if label else ""
    return {"at": at, "number": number, "of": of, "of_arm": of_arm}


def sufficient_warmup_s(plan: Plan, steps: Sequence[StepSteadiness]) -> float | None:
    """A warm-up after which the trials were steady; None where that is not known."""
    known = [step for step in steps if step.course is not Steadiness.UNKNOWN]
    if not known or _more_than_chance(plan, known, Steadiness.UNSTEADY):
        return None
    warming = _more_than_chance(plan, known, Steadiness.WARMING)
    missing = [step.warmup_s for _, such, _ in warming for step in such]
    planned = sum(step.duration_s for step in plan.steps if not step.measured)
    return planned + math.ceil(max(missing, default=0.0))


def _more_than_chance(
    plan: Plan, known: Sequence[StepSteadiness], kind: Steadiness
) -> list[tuple[str, list[StepSteadiness], int]]:
    """(arm's label, its trials of this kind, of how many) where chance does not explain so many.

    By arm where only some arms are concerned: among many steady arms a single one would be missed.
    """
    arms = list(dict.fromkeys(step.arm for step in known))
    by_arm = []
    for arm in arms:
        own = [step for step in known if step.arm == arm]
        such = [step for step in own if step.course is kind]
        if _too_many(len(such), len(own), _RARE / len(arms)):
            by_arm.append((plan.arm(arm).label, such, len(own)))
    if 0 < len(by_arm) < len(arms):
        return by_arm
    such = [step for step in known if step.course is kind]
    return [("", such, len(known))] if by_arm or _too_many(len(such), len(known), _RARE) else []


def _too_many(count: int, of: int, rare: float) -> bool:
    return count > 0 and float(special.bdtrc(count - 1, of, _CHANCE)) < rare


def _judge(course: TrialCourse, span: StepSpan, smallest: float) -> StepSteadiness:
    places = course.whole(span)
    at_s = course.edges_s[places] - course.edges_s[span.begin]
    values = course.tps[places]
    phase = cycle_phase(course.edges_s[:-1], course.checkpoints_s)

    def judged(
        verdict: Steadiness, cause: Note | None, warmup_s: float, unrest: _Unrest
    ) -> StepSteadiness:
        return StepSteadiness(
            trial=course.number,
            arm=course.arm,
            step=span.level,
            course=verdict,
            cause=cause,
            warmup_s=warmup_s,
            shifts=unrest.shifts,
            trend=unrest.trend,
            phase_removed=phase is not None,
        )

    nothing = _Unrest((), None, drifts=False)
    if len(values) < FEWEST_INTERVALS:
        counts = {"number": len(values), "fewest": FEWEST_INTERVALS}
        few = Note("analysis/curves/few-intervals", counts)
        return judged(Steadiness.UNKNOWN, few, 0.0, nothing)
    usual = float(values.mean())
    if not np.all(np.isfinite(values)) or usual <= 0.0 or np.ptp(values) <= 1e-12 * usual:
        constant = Note("analysis/curves/constant-throughput")
        return judged(Steadiness.UNKNOWN, constant, 0.0, nothing)
    if phase is not None:
        values = without_cycle(values, at_s, phase[places])
    near = course.checkpoints_s - course.edges_s[span.begin]
    whole = _unrest(values, at_s, near, smallest)
    if not whole.any:
        return judged(Steadiness.STEADY, None, 0.0, whole)
    cut = _truncation(values, at_s, whole)
    if cut is not None and not _unrest(values[cut:], at_s[cut:], near, smallest).any:
        return judged(Steadiness.WARMING, _because(whole), float(at_s[cut]), whole)
    return judged(Steadiness.UNSTEADY, _because(whole), 0.0, whole)


def _unrest(values: Array, at_s: Array, checkpoints_s: Array, smallest: float) -> _Unrest:
    usual = float(values.mean())
    pieces = [0, *change_points(values), len(values)]
    means = [float(values[a:b].mean()) for a, b in pairwise(pieces)]
    shifts = []
    for place, before, after in zip(pieces[1:-1], means[:-1], means[1:], strict=True):
        change = (after - before) / usual
        if abs(change) >= smallest:
            gaps = np.abs(checkpoints_s - at_s[place])
            near = bool(len(gaps) and gaps.min() <= 3.0)
            shifts.append(Shift(float(at_s[place]), 100.0 * change, near))
    found = drift(values)
    if found is None:
        return _Unrest(tuple(shifts), None, drifts=False)
    total, low, high = (100.0 * v / usual for v in (found.total, found.low, found.high))
    drifts = found.is_sure and abs(total) >= 100.0 * smallest
    return _Unrest(tuple(shifts), Trend(total, (low, high)), drifts)


def _truncation(values: Array, at_s: Array, unrest: _Unrest) -> int | None:
    """The cut after the last early change, or by MSER-5 where that is later."""
    most = int(len(values) * _LONGEST_WARMUP)
    late = [shift for shift in unrest.shifts if shift.at_s > at_s[most]]
    if late:
        return None
    cut = int(np.searchsorted(at_s, unrest.shifts[-1].at_s)) if unrest.shifts else 0
    cut = max(cut, mser5(values))
    return cut if 0 < cut <= most else None


def mser5(values: Array) -> int:
    """The truncation that minimises the standard error of the rest's mean, in batches of five."""
    batches = len(values) // _BATCH
    means = values[: batches * _BATCH].reshape(batches, _BATCH).mean(axis=1)
    left = np.arange(batches, 0, -1)
    sums = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(means[::-1] ** 2)[::-1]
    score = (squares - sums**2 / left) / left**2
    # Only the first half: near the end few batches look precise by chance.
    return int(np.argmin(score[: max(batches // 2, 1)])) * _BATCH


def _because(unrest: _Unrest) -> Note | None:
    if unrest.shifts:
        largest = max(unrest.shifts, key=lambda shift: abs(shift.change_pct))
        where = Note("analysis/curves/with-a-checkpoint") if largest.near_checkpoint else ""
        return Note(
            "analysis/curves/shifted",
            {"change_pct": largest.change_pct, "at_s": largest.at_s, "where": where},
        )
    if unrest.trend is None:
        return None
    return Note("analysis/curves/drifted", {"over_step_pct": unrest.trend.over_step_pct})
