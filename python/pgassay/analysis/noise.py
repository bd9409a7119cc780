"""How much identical trials differ, and where it comes from.

Enters: a plan, its complete blocks, the courses of the trials. Leaves: `Noise` for a metric.
Never: compares arms: what they differ in is taken out first.

A trial's figure scatters by the luck of its start and by the noise of its seconds. The second is
known from inside the trials (their long-run variance); the first is what is left, the split that
Kalibera and Jones (arXiv 2007.10899) make for repetitions at several levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.calibration_model import Noise
from pgassay.analysis.contrasts import BlockTable
from pgassay.analysis.course import TrialCourse
from pgassay.analysis.pooled_inertia import pooled_inertia
from pgassay.analysis.prewhitening import cycle_phase, without_means

Array = NDArray[np.float64]
FEWEST_INTERVALS = 20


def noise_of(
    metric: str,
    table: BlockTable,
    courses: Sequence[TrialCourse],
    measured_s: float,
    *,
    alike: bool,
) -> Noise | None:
    """None where there are too few trials to see a spread, or they do not differ.

    `alike` says that the arms are one.
    """
    found = _trial_variance(table.values, alike)
    if found is None:
        return None
    variance, degrees = found
    series, interval_s = _courses(metric, courses)
    inertia = pooled_inertia(series) if series else None
    second = None if inertia is None else inertia.long_run_variance * interval_s
    return Noise(
        metric=metric,
        trials=table.values.size,
        degrees=degrees,
        measured_s=measured_s,
        trial_sd=math.sqrt(variance),
        second_sd=None if second is None else math.sqrt(second),
        start_sd=None if second is None else math.sqrt(max(0.0, variance - second / measured_s)),
        autocorrelation=None if inertia is None else inertia.autocorrelation,
        interval_s=None if inertia is None else interval_s,
        drift_sd=_drift(table.values, variance),
        trial_sd_ci95=spread_interval(math.sqrt(variance), _freedom(table.values, degrees)),
    )


def spread_interval(sd: float, freedom: float) -> tuple[float, float]:
    """The 95 % interval of a standard deviation that is known from so many degrees of freedom.

    Of independent normal values the variance is a chi-square; trials with heavier tails scatter by
    more than it says.
    """
    low, high = (sd * math.sqrt(freedom / special.chdtri(freedom, p)) for p in (0.025, 0.975))
    return low, high


def _freedom(values: Array, degrees: int) -> float:
    """Neighbours' differences share trials: von Neumann's variance is worth about two thirds of
    its number (its own variance is σ⁴ (3n − 4) / (n − 1)²)."""
    blocks, arms = values.shape
    return degrees if arms > 1 else 2.0 * (blocks - 1) ** 2 / (3 * blocks - 4)


def _trial_variance(values: Array, alike: bool) -> tuple[float, int] | None:
    """Of a trial inside its block, arms and blocks taken out; by neighbours where there is one arm.

    Neighbours' differences hardly see a slow drift (von Neumann 1941), as blocks do not.
    """
    blocks, arms = values.shape
    if blocks < 2:
        return None
    if arms == 1:
        variance, degrees = float(np.mean(np.diff(values[:, 0]) ** 2)) / 2.0, blocks - 1
    else:
        left = values - values.mean(axis=1, keepdims=True)
        degrees = blocks * (arms - 1)
        if not alike:
            left -= left.mean(axis=0)
            degrees = (blocks - 1) * (arms - 1)
        variance = float(np.sum(left**2)) / degrees
    return (variance, degrees) if variance > 1e-18 else None


def _drift(values: Array, variance: float) -> float | None:
    blocks, arms = values.shape
    if blocks < 3 or arms < 2:
        return None
    between = float(np.var(values.mean(axis=1), ddof=1)) - variance / arms
    return math.sqrt(max(0.0, between))


def _courses(metric: str, courses: Sequence[TrialCourse]) -> tuple[list[Array], float]:
    """Every step of every trial that is long enough, related to its mean; the usual interval."""
    found: list[Array] = []
    if metric not in ("tps", "latency_mean"):
        return found, 0.0
    for course in courses:
        whole = course.tps if metric == "tps" else course.latency_ms
        phase = cycle_phase(course.edges_s[:-1], course.checkpoints_s)
        for span in course.steps:
            places = course.whole(span)
            values = whole[places]
            if len(values) < FEWEST_INTERVALS or not np.all(np.isfinite(values)):
                continue
            mean = float(values.mean())
            if mean <= 0.0:
                continue
            values = values / mean
            if phase is not None:
                values = without_means(values[None, :], phase[places])[0] + 1.0
            found.append(values)
    return found, float(np.median([course.interval_s for course in courses])) if courses else 0.0
