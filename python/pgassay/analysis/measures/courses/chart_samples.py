"""What was sampled during one trial, in stretches of time that all trials of a run share.

Enters: a trial's sampled sessions and even series. Leaves: sessions by wait class, speed, waits and
the host over time; means over trials. Never: shows what was not read as zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.courses.figures import figures
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.metrics import WAIT_CLASSES

Floats = NDArray[np.float64]
Course = tuple[float | None, ...]
_MOST_STRETCHES = 240
_MOST_FIGURES = 120
"""There are many figures, and each has a small panel."""
_WIDTHS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)


@dataclass(frozen=True)
class SampledCourse:
    """Values of successive stretches; None where too little was read."""

    first: int = 0
    """The number of the first stretch: the measurement begins with number 0."""
    width_s: float = 1.0
    sessions: Mapping[str, Course] = field(default_factory=dict)
    """Wait class → average active sessions."""
    figures: Mapping[str, Course] = field(default_factory=dict)
    """Speed, waits and the host's figures, by the names of `courses/figures.py`."""


def sampled_course(
    sources: TrialSources, begin_ns: int, zero_ns: int, end_ns: int
) -> SampledCourse:
    """Returns one trial's course from the beginning of its load; its measurement lasts from zero to
    the end."""
    width_s = next(
        (w for w in _WIDTHS_S if (end_ns - begin_ns) / 1e9 / w <= _MOST_STRETCHES), _WIDTHS_S[-1]
    )
    width_ns = width_s * 10**9
    first = math.ceil((begin_ns - zero_ns) / width_ns - 0.01)
    last = max(math.floor((end_ns - zero_ns) / width_ns + 0.01), first + 1)
    edges = zero_ns + np.arange(first, last + 1, dtype=np.int64) * width_ns
    by_class = sources.waits.by_window(edges).T
    return SampledCourse(
        first,
        float(width_s),
        {
            one.name: _course(values)
            for one, values in zip(WAIT_CLASSES, by_class, strict=True)
            if np.nansum(values) > 0.0
        },
    )


def figure_course(series: EvenSeries) -> SampledCourse:
    """Returns the course of speed, waits and the host over the measured part of a trial."""
    width_s = next(
        (
            width
            for width in _WIDTHS_S
            if width >= series.width_s and series.seconds / width <= _MOST_FIGURES
        ),
        _WIDTHS_S[-1],
    )
    found = figures(series, width_s)
    return SampledCourse(
        0, float(width_s), figures={name: _course(values) for name, values in found.items()}
    )


def mean_course(
    trials: Sequence[SampledCourse], read: Callable[[SampledCourse], Course | None]
) -> tuple[list[float], list[float | None]]:
    """Returns (middle of each stretch in seconds, mean of the trials that know it).

    A trial for which `read` gives None is left out.
    """
    known = [(one, course) for one in trials if (course := read(one)) is not None]
    if not known:
        return [], []
    width = known[0][0].width_s
    first = min(one.first for one, _ in known)
    last = max(one.first + len(course) for one, course in known)
    values = np.full((len(known), last - first), np.nan)
    for row, (one, course) in zip(values, known, strict=True):
        at = one.first - first
        row[at : at + len(course)] = [np.nan if v is None else v for v in course]
    number = np.count_nonzero(np.isfinite(values), axis=0)
    means = np.where(number > 0, np.nansum(values, axis=0) / np.maximum(number, 1), np.nan)
    return [(first + at + 0.5) * width for at in range(last - first)], list(_course(means))


def _course(values: Floats) -> Course:
    return tuple(None if math.isnan(value) else value for value in values.tolist())
