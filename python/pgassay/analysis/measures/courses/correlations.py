"""How the sampled series of one trial correlate with its throughput.

Enters: a trial's course. Leaves: its correlations, and a course without the series they were made
from, which are most of its memory. Never: tests raw series, because trends, cycles and
autocorrelation make unrelated ones look correlated.

The means of steps and of checkpoint phases are removed, both series are prewhitened (Haugh, JASA
71, 1976) and correlated at several lags.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.trial_course import IMAGES, RULES, Correlations, TrialCourse
from pgassay.analysis.statistics.correlation import at_lags, fisher_z, inertia_of, residuals
from pgassay.analysis.statistics.prewhitening import cycle_phase

Array = NDArray[np.float64]
_AT_ONCE = 65_536
"""Values that are processed together: half a megabyte."""


def correlated(course: TrialCourse) -> TrialCourse:
    """The course with its correlations; of its series only the one that is looked at later."""
    kept = [place for place, name in enumerate(course.names) if name == IMAGES]
    return replace(
        course,
        correlations=correlate(course),
        names=tuple(course.names[place] for place in kept),
        series=course.series[kept],
    )


def correlate(course: TrialCourse) -> Correlations | None:
    """The correlations, per step and then pooled, so that levels of steps do not count."""
    if not course.names:
        return None
    lags = RULES["lags_s"]
    goal = np.log(np.maximum(course.latency_ms if course.open_loop else course.tps, 1e-9))
    phase = cycle_phase(course.edges_s[:-1], course.checkpoints_s)
    sums, samples = np.zeros((2, len(course.names), 2 * lags + 1))
    for span in course.steps:
        places = course.whole(span)
        if len(places) < max(RULES["least_samples"], 2 * lags):
            continue
        if not np.all(np.isfinite(goal[places])):
            continue
        groups = np.zeros(len(places), np.int64) if phase is None else phase[places]
        values, effective = _step(goal[places], course.series, places, groups, lags)
        weight = np.maximum(effective - 3.0, 0.0)
        sums += weight * fisher_z(values)
        samples += weight
    used = samples.max(axis=1) > 0.0
    if not used.any():
        return None
    z = np.divide(sums, samples, out=np.zeros_like(sums), where=samples > 0.0)
    names = tuple(name for name, keep in zip(course.names, used, strict=True) if keep)
    return Correlations(names, np.tanh(z[used]), samples[used] + 3.0, phase is not None)


def _step(
    goal: Array, series: Array, places: NDArray[np.int64], groups: NDArray[np.int64], lags: int
) -> tuple[Array, Array]:
    """Correlations of the goal with every series within a step, and their effective samples.

    A few series at a time on every processor, so that their data stay in its cache.
    """
    lost = len(np.unique(groups))
    (own,), (varies,) = residuals(goal[None, :], groups)
    inertia = inertia_of(own[None, :])[0]
    at_once = max(1, _AT_ONCE // len(places))

    def of_part(first: int) -> tuple[Array, Array]:
        rows = series[first : first + at_once, places]
        left, vary = residuals(rows, groups)
        values, effective = at_lags(own, inertia, left, lags, lost)
        effective[~(vary & varies)] = 0.0
        return values, effective

    parts = range(0, len(series), at_once)
    if len(parts) > 1:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            found = list(threads.map(of_part, parts))
    else:
        found = [of_part(first) for first in parts]
    values, effective = zip(*found, strict=True)
    return np.concatenate(values), np.concatenate(effective)
