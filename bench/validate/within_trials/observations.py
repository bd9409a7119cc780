"""Slices of observations of a known course: autocorrelated, with a day's wave.

Enters: a seed, a length, what changes from when on. Leaves: `Slices`. Never: reads a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from pgassay.analysis.measures.model import SignalKey
from pgassay.analysis.observation.slices import Slices

START_NS = 1_780_272_000 * 10**9
"""A Monday at 0:00 UTC."""
HOUR_NS = 3600 * 10**9
EVENTS = tuple(f"LWLock:Synthetic{at}" for at in range(40))
STATEMENT = "4711"
_CALLS, _MS, _BLOCKS = 50.0, 2.0, 8.0


def autoregressive(
    source: np.random.Generator, count: int, memory: float, sd: float, rows: int
) -> NDArray[Any]:
    """Rows of values around 0 whose neighbours have this correlation."""
    noise = source.normal(0.0, sd * np.sqrt(1.0 - memory**2), (rows, count))
    noise[:, 0] = source.normal(0.0, sd, rows)
    found: NDArray[Any] = signal.lfilter([1.0], [1.0, -memory], noise, axis=1)
    return found


def recorded(
    hours: float,
    seed: int,
    *,
    width_s: float = 60.0,
    slow: float = 0.1,
    times: Mapping[SignalKey, float] | None = None,
    from_ns: int = 2**62,
) -> Slices:
    """An observation; from a moment on, some signals are a multiple of what they were.

    Logarithms vary by 0.1 with a memory of a minute and by `slow` with one of two hours, around a
    day's wave of half of the mean.
    """
    count = round(hours * 3600 / width_s)
    at_s = np.arange(count) * width_s
    starts = START_NS + (at_s * 1e9).astype(np.int64)
    source = np.random.default_rng(seed)
    rows = len(EVENTS) + 2
    fast = autoregressive(source, count, np.exp(-width_s / 60.0), 0.1, rows)
    waves = autoregressive(source, count, np.exp(-width_s / 7200.0), slow, rows)
    wave = 1.0 + 0.5 * np.sin(2.0 * np.pi * at_s / 86400.0)
    course = wave * np.exp(fast + waves)
    values: dict[SignalKey, NDArray[Any]] = {
        ("sessions", "", event): row for event, row in zip(EVENTS, course, strict=False)
    }
    calls = _CALLS * course[-1]
    values |= {
        ("metric", "", "tps"): 100.0 * course[-2],
        ("statements", STATEMENT, "calls"): calls,
        ("statements", STATEMENT, "exec_time_ms"): _MS * calls,
        ("statements", STATEMENT, "shared_blks_hit"): _BLOCKS * calls,
        ("statements", STATEMENT, "shared_blks_read"): 0.0 * calls,
        ("statements", STATEMENT, "rows"): calls,
    }
    later = starts >= from_ns
    for key, multiple in (times or {}).items():
        values[key] = np.where(later, multiple, 1.0) * values[key]
    seconds = np.full(count, width_s)
    return Slices(starts, seconds, seconds.copy(), values)
