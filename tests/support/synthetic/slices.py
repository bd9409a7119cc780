"""Made-up slices of an observation under a day's wave, with bursts of each night.

Enters: a seed, how many days. Leaves: `Slices`. Never: reads a file.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats
from pgassay.analysis.reading.counters import Key

START_NS = 1_790_000_000 * 10**9
WIDTH_S = 10.0
DAY = round(86400 / WIDTH_S)


def noise(source: np.random.Generator, count: int, inertia: float, sd: float) -> Floats:
    """Autoregressive noise with this standard deviation."""
    steps = source.normal(0.0, sd * np.sqrt(1.0 - inertia**2), count)
    found: Floats = lfilter([1.0], [1.0, -inertia], steps)
    return found


def quiet(
    seed: int, days: float, *, inertia: float = 0.8, sd: float = 0.12, nightly: bool = True
) -> Slices:
    """A server on which nothing unusual happens: its load rises and falls with the day, a job of
    ten minutes each night spills, waits for locks and makes checkpoints."""
    source = np.random.default_rng(seed)
    count = round(days * DAY)
    at = np.arange(count)
    wave = 1.0 + 0.6 * np.sin(2 * np.pi * at / DAY)
    tps = 400.0 * wave * np.exp(noise(source, count, inertia, sd))
    # Busy sessions follow throughput, with noise of their own.
    busy = tps / 400.0 * 3.0 * np.exp(noise(source, count, inertia, sd))
    locks = 0.1 * np.exp(noise(source, count, inertia, 0.8))
    spilled = source.exponential(2e5, count) * (source.random(count) < 0.02)
    requested: Floats = np.where(source.random(count) < 0.0005, 6.0, 0.0)
    if nightly:
        for day in range(int(days) + 1):
            begin = day * DAY + 720 + source.integers(-12, 13)
            job = slice(begin, min(begin + 60, count))
            spilled[job] = 3e7
            locks[job] += 2.0
            busy[job] += 4.0
            tps[job] *= 0.8
            requested[job] = 6.0
    return slices_of_rows(
        {
            ("metric", "", "tps"): tps,
            ("class", "", "cpu"): 0.6 * busy,
            ("class", "", "data_io"): 0.3 * busy,
            ("class", "", "lock"): locks.copy(),
            ("sessions", "", "Lock:transactionid"): locks,
            ("database", "", "temp_bytes"): spilled,
            ("database", "", "sessions"): source.poisson(2.0, count).astype(np.float64) / WIDTH_S,
            ("checkpoints", "", "requested"): requested,
            ("tables", "orders", "seq_tup_read"): source.exponential(100.0, count),
            ("tables", "orders", "idx_scan"): tps,
            ("query", "7", "CPU"): 0.5 * busy,
            ("query", "8", "CPU"): 0.3 * busy,
        }
    )


def slices_of_rows(rows: dict[Key, Floats]) -> Slices:
    """Slices of ten seconds that were read whole."""
    count = len(next(iter(rows.values())))
    starts = START_NS + (np.arange(count) * WIDTH_S * 1e9).astype(np.int64)
    width = np.full(count, WIDTH_S)
    return Slices(starts, width.copy(), width, rows)
