"""Each checkpoint of each trial with its own dip: a description, not an estimate.

Enters: the courses of trials. Leaves: a `CheckpointRow` per checkpoint.
Never: tests anything; the lowest of many seconds lies below the others in any noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pgassay.analysis.curves.checkpoints.model import CheckpointRow
from pgassay.analysis.curves.checkpoints.profiles import (
    LONGEST_AFTER_S,
    LONGEST_BEFORE_S,
    recovery_s,
    smoothed,
)
from pgassay.analysis.measures.courses.checkpoint_signals import TrialCheckpoint
from pgassay.analysis.measures.courses.trial_course import Array, TrialCourse

_LEAST_BEFORE, _LEAST_AFTER = 2, 3
"""Intervals that it takes before and after the start."""


def checkpoint_rows(courses: Sequence[TrialCourse]) -> tuple[CheckpointRow, ...]:
    """In order of trials and time."""
    return tuple(row for course in courses for row in _rows(course))


def _rows(course: TrialCourse) -> Iterator[CheckpointRow]:
    done = np.r_[0.0, np.cumsum(course.transactions)]
    for before, one, after in _with_neighbours(course):
        yield _row(course, done, course.interval_s, before, one, after)


def _with_neighbours(
    course: TrialCourse,
) -> list[tuple[float | None, TrialCheckpoint, float | None]]:
    starts = [one.started_s for one in course.checkpoints]
    # The first list is one longer: every checkpoint has the one before it beside it.
    return list(zip([None, *starts], course.checkpoints, [*starts[1:], None], strict=False))


def _row(
    course: TrialCourse,
    done: Array,
    step_s: float,
    previous: float | None,
    one: TrialCheckpoint,
    following: float | None,
) -> CheckpointRow:
    """`done` are the transactions up to each edge of the course."""
    at = one.started_s
    span = next(
        (s for s in course.steps if course.edges_s[s.begin] <= at < course.edges_s[s.end]), None
    )
    begin, end = (at, at) if span is None else course.edges_s[[span.begin, span.end]].tolist()
    begin = max(begin, at - LONGEST_BEFORE_S, begin if previous is None else previous)
    end = min(end, at + LONGEST_AFTER_S, end if following is None else following)
    before, after = int((at - begin) / step_s + 1e-6), int((end - at) / step_s + 1e-6)
    depth, lost, recovered = None, None, None
    if before >= _LEAST_BEFORE and after >= _LEAST_AFTER:
        edges = at + np.arange(-before, after + 1) * step_s
        counts = np.diff(np.interp(edges, course.edges_s, done))
        usual = float(counts[:before].mean())
        if usual > 0.0:
            lost = float((usual - counts[before:]).sum())
            smooth = smoothed(100.0 * (counts[before:] / usual - 1.0))
            depth = -float(smooth.min())
            back_s = float(recovery_s(smooth, step_s))
            recovered = back_s if depth > 0.0 and math.isfinite(back_s) else None
    return CheckpointRow(
        trial=course.number,
        block=course.block,
        arm=course.arm,
        checkpoint=one,
        depth_pct=depth,
        lost_transactions=lost,
        recovered_s=recovered,
        followed_s=end - at,
    )
