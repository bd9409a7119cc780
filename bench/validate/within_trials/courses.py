"""Simulated courses of trials with a known truth.

Enters: the noise and the events. Leaves: `TrialCourse` values. Never: stores anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from pgassay.analysis.measures.courses.trial_course import StepSpan, TrialCourse

Array = NDArray[np.float64]
BASE_TPS = 5000.0
CHECKPOINTS_S = (20.0, 50.0, 80.0)
"""Of a trial of 120 s."""


def inert_noise(source: np.random.Generator, rows: int, n: int, correlation: float) -> Array:
    """Rows of a first-order autoregression with a standard deviation of 1; 1.0 is a random walk."""
    draws = source.standard_normal((rows, n + 300))
    if correlation >= 1.0:
        walk: Array = np.cumsum(draws[:, 300:], axis=1)
        return walk
    found: Array = signal.lfilter([1.0], [1.0, -correlation], draws, axis=1)[:, 300:]
    found *= np.sqrt(1.0 - correlation**2)
    return found


def course_of(
    tps: Array,
    *,
    number: int = 1,
    arm: str = "a1",
    checkpoints_s: Sequence[float] = (),
    series: Mapping[str, Array] | None = None,
) -> TrialCourse:
    """One trial of one step, with an interval a second."""
    n = len(tps)
    rows = series or {}
    return TrialCourse(
        number=number,
        block=number,
        arm=arm,
        open_loop=False,
        edges_s=np.arange(n + 1.0),
        transactions=tps,
        latency_ms=np.full(n, np.nan),
        response_ms=np.full(n, np.nan),
        steps=(StepSpan(8.0, 0, n),),
        checkpoints_s=np.array(checkpoints_s, dtype=np.float64),
        names=tuple(rows),
        series=np.array(list(rows.values())).reshape(len(rows), n),
    )


def named(rows: Array) -> dict[str, Array]:
    """Series under the names s0, s1, …"""
    return {f"s{at}": row for at, row in enumerate(rows)}


def dip(n: int, checkpoints_s: Sequence[float], depth: float, length_s: float) -> Array:
    """1, falling to 1 − depth at each checkpoint and recovering linearly."""
    found = np.ones(n)
    middles = np.arange(n) + 0.5
    for at in checkpoints_s:
        since = middles - at
        inside = (since > 0.0) & (since < length_s)
        found[inside] = 1.0 - depth * (1.0 - since[inside] / length_s)
    return found
