"""Whether a step of a trial was steady, and what warm-up it would have needed.

Enters: the courses of trials, the smallest effect that matters. Leaves: a `StepCourse` each, and
doubts where too many were not steady. Never: drops anything; the figures stay whole.

Sources: change_points.py, trend.py; White 1997 and Franklin and White 2008 (MSER-5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.change_points import change_points
from pgassay.analysis.course import StepSpan, TrialCourse
from pgassay.analysis.course_model import Course, Shift, StepCourse, Trend
from pgassay.analysis.model import Doubt
from pgassay.analysis.prewhitening import cycle_phase, without_cycle
from pgassay.analysis.trend import drift
from pgassay.plan.model import Plan

Array = NDArray[np.float64]
FEWEST_INTERVALS = 30
_LONGEST_WARMUP = 1 / 3
_BATCH = 5
_CHANCE = 0.10
"""How many steady trials seem unsteady at most; about 5 % do (docs/validation-steadiness.md)."""
_RARE = 0.06


@dataclass(frozen=True)
class _Unrest:
    shifts: tuple[Shift, ...]
    trend: Trend | None
    drifts: bool

    @property
    def any(self) -> bool:
        return bool(self.shifts) or self.drifts


def step_courses(courses: Sequence[TrialCourse], smallest_effect: float) -> tuple[StepCourse, ...]:
    """Every measured step of every trial."""
    return tuple(
        _judge(course, span, smallest_effect) for course in courses for span in course.steps
    )


def steadiness_doubts(plan: Plan, steps: Sequence[StepCourse]) -> list[Doubt]:
    """Told by step, where more trials are unsteady than chance makes so."""
    found = []
    for level in dict.fromkeys(step.step for step in steps):
        known = [s for s in steps if s.step == level and s.course is not Course.UNKNOWN]
        at = f"at {level:g} {plan.step_unit} " if len(plan.step_levels()) > 1 else ""
        for whose, unsteady, of in _more_than_chance(plan, known, Course.UNSTEADY):
            found.append(
                Doubt(
                    "no-steady-state",
                    f"{at}{len(unsteady)} of {of} trials{whose} reached no steady state"
                    f" (trial {unsteady[0].trial}: {unsteady[0].why})",
                )
            )
        for whose, warming, of in _more_than_chance(plan, known, Course.WARMING):
            longest = math.ceil(max(step.warmup_s for step in warming))
            found.append(
                Doubt(
                    "warm-up",
                    f"{at}{len(warming)} of {of} trials{whose} had not settled when measuring"
                    f" began: load.warmup should be {longest} s longer, in every arm alike",
                )
            )
    return found


def _more_than_chance(
    plan: Plan, known: Sequence[StepCourse], kind: Course
) -> list[tuple[str, list[StepCourse], int]]:
    """Whose trials are so, which, and of how many: of single arms where it is only theirs.

    Among many arms that are steady, one that never is would not be seen.
    """
    arms = list(dict.fromkeys(step.arm for step in known))
    by_arm = []
    for arm in arms:
        own = [step for step in known if step.arm == arm]
        such = [step for step in own if step.course is kind]
        if _too_many(len(such), len(own), _RARE / len(arms)):
            by_arm.append((f" of {plan.arm(arm).label}", such, len(own)))
    if 0 < len(by_arm) < len(arms):
        return by_arm
    such = [step for step in known if step.course is kind]
    return [("", such, len(known))] if by_arm or _too_many(len(such), len(known), _RARE) else []


def _too_many(count: int, of: int, rare: float) -> bool:
    return count > 0 and float(special.bdtrc(count - 1, of, _CHANCE)) < rare


def _judge(course: TrialCourse, span: StepSpan, smallest: float) -> StepCourse:
    places = course.whole(span)
    at_s = course.edges_s[places] - course.edges_s[span.begin]
    values = course.tps[places]
    phase = cycle_phase(course.edges_s[:-1], course.checkpoints_s)

    def said(verdict: Course, why: str, warmup_s: float, unrest: _Unrest) -> StepCourse:
        return StepCourse(
            trial=course.number,
            arm=course.arm,
            step=span.level,
            course=verdict,
            why=why,
            warmup_s=warmup_s,
            shifts=unrest.shifts,
            trend=unrest.trend,
            phase_removed=phase is not None,
        )

    nothing = _Unrest((), None, drifts=False)
    if len(values) < FEWEST_INTERVALS:
        why = f"{len(values)} intervals; it takes {FEWEST_INTERVALS}"
        return said(Course.UNKNOWN, why, 0.0, nothing)
    usual = float(values.mean())
    if not np.all(np.isfinite(values)) or usual <= 0.0 or np.ptp(values) <= 1e-12 * usual:
        return said(Course.UNKNOWN, "throughput does not vary", 0.0, nothing)
    if phase is not None:
        values = without_cycle(values, at_s, phase[places])
    near = course.checkpoints_s - course.edges_s[span.begin]
    whole = _unrest(values, at_s, near, smallest)
    if not whole.any:
        return said(Course.STEADY, "", 0.0, whole)
    cut = _truncation(values, at_s, whole)
    if cut is not None and not _unrest(values[cut:], at_s[cut:], near, smallest).any:
        return said(Course.WARMING, _why(whole), float(at_s[cut]), whole)
    return said(Course.UNSTEADY, _why(whole), 0.0, whole)


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
    """Where the last early change is behind; by MSER-5 where it came gradually."""
    most = int(len(values) * _LONGEST_WARMUP)
    late = [shift for shift in unrest.shifts if shift.at_s > at_s[most]]
    if late:
        return None
    cut = int(np.searchsorted(at_s, unrest.shifts[-1].at_s)) if unrest.shifts else 0
    cut = max(cut, mser5(values))
    return cut if 0 < cut <= most else None


def mser5(values: Array) -> int:
    """The truncation that makes the mean of the rest surest, in batches of five."""
    batches = len(values) // _BATCH
    means = values[: batches * _BATCH].reshape(batches, _BATCH).mean(axis=1)
    left = np.arange(batches, 0, -1)
    sums = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(means[::-1] ** 2)[::-1]
    score = (squares - sums**2 / left) / left**2
    # The rule is known to fail in the second half, where few batches look sure by chance.
    return int(np.argmin(score[: max(batches // 2, 1)])) * _BATCH


def _why(unrest: _Unrest) -> str:
    return _because(unrest).replace("-", "\u2212")


def _because(unrest: _Unrest) -> str:
    if unrest.shifts:
        largest = max(unrest.shifts, key=lambda shift: abs(shift.change_pct))
        where = ", with a checkpoint" if largest.near_checkpoint else ""
        return f"its mean changed by {largest.change_pct:+.0f} % at {largest.at_s:.0f} s{where}"
    if unrest.trend is None:
        return ""
    return f"it drifted by {unrest.trend.over_step_pct:+.1f} % from beginning to end"
