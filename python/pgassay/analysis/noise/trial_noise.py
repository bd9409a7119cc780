"""How much trials of one arm differ, and how much of it comes from starts and from seconds.

Enters: the complete blocks of a metric, the courses of the trials. Leaves: its `Noise`.
Never: compares arms; their means are removed first.

A trial's figure varies with its start and with the fluctuation of its seconds. The second part is
estimated inside the trials (their long-run variance), the first is the rest: the split that
Kalibera and Jones (arXiv 2007.10899) make for repetitions at several levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import BlockTable
from pgassay.analysis.noise.model import Noise
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.inertia import pooled_inertia
from pgassay.analysis.statistics.prewhitening import cycle_phase, without_means

if TYPE_CHECKING:  # reads tables; a forecast of noise needs none
    from pgassay.analysis.measures.courses.trial_course import TrialCourse

Array = NDArray[np.float64]
FEWEST_INTERVALS = 20
_SERIES: Mapping[str, Callable[[TrialCourse], Array]] = {
    "tps": lambda course: course.tps,
    "latency_mean": lambda course: course.latency_ms,
    "response_mean": lambda course: course.response_ms,
}
"""Metrics that have a value in every interval."""


def noise_of(
    metric: str,
    table: BlockTable,
    courses: Sequence[TrialCourse],
    measured_s: float,
    *,
    alike: bool,
) -> Noise | None:
    """The noise; None with too few trials, or trials that do not differ.

    `alike`: the arms are identical, as in an A/A run.
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
    """The 95 % interval of a standard deviation with so many degrees of freedom (chi-square).

    It assumes independent normal values; with heavier tails it is too narrow.
    """
    low, high = (sd * math.sqrt(freedom / special.chdtri(freedom, p)) for p in (0.025, 0.975))
    return low, high


def _freedom(values: Array, degrees: int) -> float:
    """Degrees of freedom; neighbours' differences share trials, which costs about a third of them.

    Von Neumann's estimate has the variance σ⁴ (3n − 4) / (n − 1)².
    """
    blocks, arms = values.shape
    return degrees if arms > 1 else 2.0 * (blocks - 1) ** 2 / (3 * blocks - 4)


def _trial_variance(values: Array, alike: bool) -> tuple[float, int] | None:
    """The residual variance after means of blocks and arms, with its degrees of freedom.

    With one arm from differences of neighbours, which a slow drift hardly affects (von Neumann,
    Annals of Mathematical Statistics 12, 1941).
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
    """Every long enough step of every trial, divided by its mean; and the median interval."""
    found: list[Array] = []
    series_of = _SERIES.get(metric)
    if series_of is None:
        return found, 0.0
    for course in courses:
        whole = series_of(course)
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
