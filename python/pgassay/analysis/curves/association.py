"""Sampled series that correlate with throughput inside trials; association, not cause.

Enters: the courses of trials. Leaves: `Associations`. Never: tests raw series, because trends,
cycles and autocorrelation make unrelated ones look correlated.

In each trial the means of steps and of checkpoint phases are removed, both series are prewhitened
(Haugh, JASA 71, 1976) and correlated at several lags. The trials' correlations are pooled
(pooled_correlation.py). p values are corrected over all series and lags (Benjamini and Yekutieli
2001).
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.model import Association, Associations
from pgassay.analysis.measures.courses.trial_course import RULES, TrialCourse
from pgassay.analysis.statistics.multiple_testing import yekutieli
from pgassay.analysis.statistics.pooled_correlation import at_lags, fisher_z, pooled, residuals
from pgassay.analysis.statistics.prewhitening import cycle_phase
from pgassay.language import tr

Array = NDArray[np.float64]
_RATE = 0.05
_AT_ONCE = 65_536
"""Values that are processed together: half a megabyte."""


@dataclass(frozen=True)
class _Correlations:
    """One trial's correlations, series × lags, with their effective samples."""

    names: tuple[str, ...]
    values: Array
    samples: Array
    phase_removed: bool


def associations(courses: Sequence[TrialCourse]) -> Associations:
    """Significant and strong enough ones, strongest first, each series at its strongest lag."""
    lags = RULES["lags_s"]
    with_ = "latency_mean" if courses and courses[0].open_loop else "tps"
    trials = [one for course in courses if (one := _correlate(course, lags)) is not None]
    intervals = [course.interval_s for course in courses]
    lag_s = tuple((np.arange(-lags, lags + 1) * np.median(intervals)).tolist()) if courses else ()
    removed = sum(trial.phase_removed for trial in trials)
    if not trials:
        least = RULES["least_samples"]
        refused = tr(
            "no trial has a step of {least} intervals in which {metric} and anything varies",
            least=least,
            metric=with_,
        )
        return Associations((), 0, lag_s, 0, 0, refused)
    # A series that does not vary in a trial is left out there.
    names = list(dict.fromkeys(name for trial in trials for name in trial.names))
    place = {name: row for row, name in enumerate(names)}
    z, weights = (np.zeros((len(trials), len(names), 2 * lags + 1)) for _ in range(2))
    for at, trial in enumerate(trials):
        rows = [place[name] for name in trial.names]
        z[at, rows] = fisher_z(trial.values)
        weights[at, rows] = np.maximum(trial.samples - 3.0, 0.0)
    found = _pooled(names, z, weights, lag_s, with_)
    return Associations(found, len(names), lag_s, len(trials), removed, None)


def _pooled(
    names: Sequence[str], z: Array, weights: Array, lag_s: Sequence[float], with_: str
) -> tuple[Association, ...]:
    over_trials = pooled(z, weights)
    mean, p, known = over_trials.z, over_trials.p, over_trials.known
    reaches = over_trials.reach()
    adjusted = yekutieli(p.ravel()).reshape(p.shape)
    found = []
    for row, name in enumerate(names):
        lag = int(np.argmin(np.where(known[row], p[row], np.inf)))
        r = math.tanh(mean[row, lag])
        if adjusted[row, lag] > _RATE or abs(r) < RULES["least_correlation"]:
            continue
        reach = reaches[row, lag]
        found.append(
            Association(
                series=name,
                with_=with_,
                lag_s=float(lag_s[lag]),
                correlation=r,
                ci95=(math.tanh(mean[row, lag] - reach), math.tanh(mean[row, lag] + reach)),
                p_adjusted=float(adjusted[row, lag]),
                trials=int((weights[:, row, lag] > 0.0).sum()),
                effective_samples=float(
                    (weights[:, row, lag] + 3.0)[weights[:, row, lag] > 0].sum()
                ),
            )
        )
    # The same quantity in two units is reported once.
    alike = {(a.lag_s, round(a.correlation, 9)): a for a in reversed(found)}
    return tuple(sorted(alike.values(), key=lambda a: (-abs(a.correlation), a.series)))


def _correlate(course: TrialCourse, lags: int) -> _Correlations | None:
    """One trial's correlations, per step and then pooled, so that levels of steps do not count."""
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
    return _Correlations(names, np.tanh(z[used]), samples[used] + 3.0, phase is not None)


def _step(
    goal: Array, series: Array, places: NDArray[np.int64], groups: NDArray[np.int64], lags: int
) -> tuple[Array, Array]:
    """Correlations of the goal with every series within a step, and their effective samples.

    A few series at a time on every processor, so that their data stay in its cache.
    """
    lost = len(np.unique(groups))
    (own,), (varies,) = residuals(goal[None, :], groups)
    at_once = max(1, _AT_ONCE // len(places))

    def correlated(first: int) -> tuple[Array, Array]:
        rows = series[first : first + at_once, places]
        left, vary = residuals(rows, groups)
        values, effective = at_lags(own, left, lags, lost)
        effective[~(vary & varies)] = 0.0
        return values, effective

    parts = range(0, len(series), at_once)
    if len(parts) > 1:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            found = list(threads.map(correlated, parts))
    else:
        found = [correlated(first) for first in parts]
    values, effective = zip(*found, strict=True)
    return np.concatenate(values), np.concatenate(effective)
