"""Sampled series that correlate with throughput inside trials; association, not cause.

Enters: the courses of trials. Leaves: `Associations`. Never: tests raw series, because trends,
cycles and autocorrelation make unrelated ones look correlated.

The correlations within each trial (measures/courses/correlations.py) are pooled
(statistics/correlation.py). p values are corrected over all series and lags (Benjamini and
Yekutieli 2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.model import Association, Associations
from pgassay.analysis.measures.courses.correlations import correlate
from pgassay.analysis.measures.courses.trial_course import RULES, TrialCourse
from pgassay.analysis.statistics.correlation import fisher_z, pooled
from pgassay.analysis.statistics.multiple_testing import yekutieli
from pgassay.notes import Note

Array = NDArray[np.float64]
_RATE = 0.05


def associations(courses: Sequence[TrialCourse]) -> Associations:
    """Significant and strong enough ones, strongest first, each series at its strongest lag."""
    lags = RULES["lags_s"]
    with_ = "latency_mean" if courses and courses[0].open_loop else "tps"
    known = (course.correlations or correlate(course) for course in courses)
    trials = [one for one in known if one is not None]
    intervals = [course.interval_s for course in courses]
    lag_s = tuple((np.arange(-lags, lags + 1) * np.median(intervals)).tolist()) if courses else ()
    removed = sum(trial.phase_removed for trial in trials)
    if not trials:
        least = RULES["least_samples"]
        values = {"least": least, "metric": with_}
        refused = Note("analysis/curves/nothing-varies", values)
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
