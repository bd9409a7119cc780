"""Throughput around the starts of checkpoints: a mean profile per trial, a row per checkpoint.

Enters: the courses of one arm's trials. Leaves: a `Window`, a `Profile` per trial; a
`CheckpointRow` per checkpoint, a description and no test: the lowest of many seconds lies below the
others in any noise.
Never: uses a checkpoint whose window reaches another checkpoint or another step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.checkpoints.model import CheckpointRow
from pgassay.analysis.measures.courses.trial_course import IMAGES, TrialCourse
from pgassay.analysis.measures.model import TrialCheckpoint

Array = NDArray[np.float64]
FEWEST_TRIALS = 3
LONGEST_BEFORE_S, LONGEST_AFTER_S = 10.0, 120.0
RECOVERED = 0.1
"""Share of the depth below which throughput has recovered."""
_LEAST_CYCLE_S = 10.0
"""Faster checkpoints have no before and after."""


@dataclass(frozen=True)
class Profile:
    """The mean of one trial over its checkpoints."""

    course: TrialCourse
    checkpoints: int
    pct: Array
    """Change at each place of the window, in per cent of the level before."""
    lost: float
    images: float | None
    """Full-page images after the start, beyond the rate before; None if not measured."""


@dataclass(frozen=True)
class Window:
    before: int
    after: int
    step_s: float

    @property
    def offset_s(self) -> Array:
        """The middle of each place, from the checkpoint's start."""
        places = np.arange(-self.before, self.after, dtype=np.float64)
        middles: Array = (places + 0.5) * self.step_s
        return middles


def window_of(courses: Sequence[TrialCourse]) -> Window | None:
    """Returns a window as long as the median cycle allows; None where checkpoints follow too
    fast."""
    gaps = [gap for course in courses for gap in np.diff(course.checkpoints_s)]
    step_s = courses[0].interval_s
    shortest = min(s.edges_s[-1] for s in courses)
    cycle_s = float(np.median(gaps)) if gaps else min(LONGEST_AFTER_S, shortest / 2)
    if cycle_s < max(_LEAST_CYCLE_S, 5 * step_s):
        return None
    before = max(2, round(min(LONGEST_BEFORE_S, cycle_s / 4) / step_s))
    # Nine of ten checkpoints come later than this after the one before.
    early_s = float(np.quantile(gaps, 0.1)) if gaps else _room_s(courses, before * step_s)
    after = max(5, math.floor(min(LONGEST_AFTER_S, early_s) / step_s))
    return Window(before, after, step_s)


def _room_s(courses: Sequence[TrialCourse], before_s: float) -> float:
    """How long to look after the only checkpoint of each trial: the most seconds of all together.

    A longer window leaves out the trials whose step ends sooner.
    """
    rooms = sorted(
        (
            float(course.edges_s[span.end] - at)
            for course in courses
            for at in course.checkpoints_s
            for span in course.steps
            if course.edges_s[span.begin] + before_s <= at < course.edges_s[span.end]
        ),
        reverse=True,
    )
    return max(rooms, key=lambda room: room * sum(other >= room for other in rooms), default=0.0)


def profiles_of(courses: Sequence[TrialCourse], window: Window) -> list[Profile]:
    """Returns the profiles of trials that have a checkpoint with the whole window in one step."""
    found = []
    for course in courses:
        done = np.r_[0.0, np.cumsum(course.transactions)]
        written = _written(course)
        rows, lost, images = [], [], []
        for edges in edges_around(course, window):
            counts = np.diff(np.interp(edges, course.edges_s, done))
            usual = counts[: window.before].mean()
            if usual <= 0.0:
                continue
            rows.append(100.0 * (counts / usual - 1.0))
            lost.append(float((usual - counts[window.before :]).sum()))
            if written is not None:
                pages = np.diff(np.interp(edges, course.edges_s, written))
                images.append((pages[window.before :] - pages[: window.before].mean()).sum())
        if rows:
            profile = np.mean(rows, axis=0)
            more = float(np.mean(images)) if images else None
            found.append(Profile(course, len(rows), profile, float(np.mean(lost)), more))
    return found


def edges_around(course: TrialCourse, window: Window) -> list[Array]:
    """The edges of the window around each checkpoint that has it to itself, inside one step."""
    found = []
    for at in course.checkpoints_s:
        edges = at + np.arange(-window.before, window.after + 1) * window.step_s
        others = course.checkpoints_s[course.checkpoints_s != at]
        crowded = np.any((others > edges[0]) & (others < edges[-1] - window.step_s))
        if not crowded and _within_a_step(course, edges):
            found.append(edges)
    return found


def smoothed(after: Array) -> Array:
    """Means of three neighbours along the last axis."""
    padded = np.concatenate([after[..., :1], after, after[..., -1:]], axis=-1)
    smooth: Array = (padded[..., :-2] + padded[..., 1:-1] + padded[..., 2:]) / 3.0
    return smooth


def first_place(places: NDArray[np.bool_]) -> Array:
    """The first true place along the last axis; infinite without one."""
    return np.where(places.any(axis=-1), places.argmax(axis=-1), math.inf)


def recovery_s(smooth: Array, step_s: float) -> Array:
    """Returns when (s) nine tenths of each row's deepest dip have recovered; infinite if never."""
    lowest = smooth.argmin(axis=-1)[..., None]
    depth = np.take_along_axis(smooth, lowest, axis=-1)
    back = (smooth >= RECOVERED * depth) & (np.arange(smooth.shape[-1]) >= lowest)
    found: Array = (first_place(back) + 0.5) * step_s
    return found


def _written(course: TrialCourse) -> Array | None:
    """Cumulated full-page images at each edge."""
    if IMAGES not in course.names:
        return None
    rates = course.series[course.names.index(IMAGES)]
    found: Array = np.r_[0.0, np.cumsum(rates * np.diff(course.edges_s))]
    return found


def _within_a_step(course: TrialCourse, edges: Array) -> bool:
    return any(
        course.edges_s[span.begin] <= edges[0] and edges[-1] <= course.edges_s[span.end] + 1e-6
        for span in course.steps
    )


_LEAST_BEFORE, _LEAST_AFTER = 2, 3
"""Intervals that it takes before and after the start."""


def checkpoint_rows(courses: Sequence[TrialCourse]) -> tuple[CheckpointRow, ...]:
    """Returns the rows of all checkpoints in order of trials and time."""
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
