"""Throughput around the starts of a trial's checkpoints, as a mean profile per trial.

Enters: the courses of one arm's trials. Leaves: a `Window`, and a `Profile` per trial.
Never: uses a checkpoint whose window reaches another checkpoint or another step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.trial_course import IMAGES, TrialCourse

Array = NDArray[np.float64]
FEWEST_TRIALS = 3
LONGEST_BEFORE_S, LONGEST_AFTER_S = 10.0, 120.0
RECOVERED = 0.1
"""Share of the depth below which throughput has recovered."""
_LEAST_CYCLE_S = 10.0
"""Faster checkpoints have no before and after."""


@dataclass(frozen=True)
class Profile:
    """One trial's mean over its checkpoints."""

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
    """As long as the median cycle allows; None where checkpoints follow each other too fast."""
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
    """Trials that have a checkpoint with the whole window inside one step."""
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
    """When nine tenths of the deepest dip of each row have recovered; infinite if never."""
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
