"""Made-up slices of an observation under a day's wave, with bursts of each night, and incidents.

Enters: a seed, how many days; an incident. Leaves: `Slices`. Never: reads a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.signal import lfilter

from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats
from pgassay.analysis.reading.counters import Key

START_NS = 1_790_000_000 * 10**9
WIDTH_S = 10.0
DAY = round(86400 / WIDTH_S)
FIRST, LENGTH = 3000, 12
"""Where an incident is put."""
PART = slice(FIRST, FIRST + LENGTH)
_STATEMENTS = {"7": (1.0, 5.0, 8.0), "8": (1.0, 3.0, 40.0), "9": (0.01, 800.0, 5000.0)}
"""Calls per transaction, ms and blocks a call; the last one is a report that reads by turns little
and much."""
_REPORT = "9"
_READ_EVERY = 6
"""Slices between two readings of the counts of statements."""


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
    statements = _statements(source, tps, inertia, sd)
    return slices_of_rows(
        {
            **statements,
            ("metric", "", "tps"): tps,
            ("class", "", "cpu"): 0.6 * busy,
            ("class", "", "data_io"): 0.3 * busy,
            ("class", "", "lock"): locks.copy(),
            ("class", "", "throttle"): np.zeros(count),
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


def _statements(
    source: np.random.Generator, tps: Floats, inertia: float, sd: float
) -> dict[Key, Floats]:
    count = len(tps)
    rows: dict[Key, Floats] = {}
    for queryid, (per_tx, ms, blocks) in _STATEMENTS.items():
        calls = per_tx * tps
        varies = 1.0 if queryid == _REPORT else sd
        read = blocks * np.exp(noise(source, count, inertia, varies))
        took = ms * (read / blocks) * np.exp(noise(source, count, inertia, sd))
        for name, row in (
            ("calls", calls),
            ("exec_time_ms", calls * took),
            ("shared_blks_hit", calls * read),
        ):
            rows["statements", queryid, name] = _read_seldom(row)
    return rows


def _read_seldom(row: Floats) -> Floats:
    """The mean between two readings."""
    firsts = np.arange(0, len(row), _READ_EVERY)
    sizes = np.diff(firsts, append=len(row))
    found: Floats = np.repeat(np.add.reduceat(row, firsts) / sizes, sizes)
    return found


def lock_queue(slices: Slices) -> Slices:
    """Sessions wait for a lock, and hardly anything is committed."""
    slices.values["sessions", "", "Lock:transactionid"][PART] = 20.0
    slices.values["class", "", "lock"][PART] = 20.0
    slices.values["metric", "", "tps"][PART] *= 0.1
    return slices


def checkpoint_storm(slices: Slices) -> Slices:
    """A checkpoint every ten seconds, and waits for disks after the first."""
    slices.values["checkpoints", "", "requested"][PART] = 6.0
    slices.values["class", "", "data_io"][FIRST + 1 : FIRST + LENGTH] += 8.0
    slices.values["metric", "", "tps"][PART] *= 0.5
    return slices


def temp_spill(slices: Slices) -> Slices:
    """A sort that does not fit."""
    slices.values["database", "", "temp_bytes"][PART] = 6e7
    slices.values["class", "", "data_io"][PART] += 3.0
    return slices


def connection_flood(slices: Slices) -> Slices:
    """Clients that connect for each transaction."""
    slices.values["database", "", "sessions"][PART] = 150.0
    slices.values["class", "", "cpu"][PART] += 9.0
    return slices


def plan_change(slices: Slices) -> Slices:
    """A table that is read whole."""
    slices.values["tables", "orders", "seq_tup_read"][PART] = 4e7
    slices.values["tables", "orders", "idx_scan"][PART] = 0.0
    slices.values["class", "", "cpu"][PART] += 9.0
    slices.values["query", "8", "CPU"][PART] += 9.0
    slices.values["metric", "", "tps"][PART] *= 0.3
    return slices


def statement_change(slices: Slices) -> Slices:
    """A statement that reads 60 times as many blocks by another index."""
    slices.values["class", "", "cpu"][PART] += 9.0
    slices.values["query", "8", "CPU"][PART] += 9.0
    slices.values["metric", "", "tps"][PART] *= 0.6
    # Counts are read once a minute, so that the first and the last reading have a part of it.
    near = slice(FIRST - _READ_EVERY // 2, FIRST + LENGTH + _READ_EVERY // 2)
    slices.values["statements", "8", "shared_blks_hit"][near] *= 60.0
    slices.values["statements", "8", "exec_time_ms"][near] *= 10.0
    return slices


def disk(slices: Slices) -> Slices:
    """Sessions wait for reads."""
    slices.values["class", "", "data_io"][PART] += 25.0
    slices.values["metric", "", "tps"][PART] *= 0.2
    return slices


def vacuum(slices: Slices) -> Slices:
    """A VACUUM, whose progress is held at its last value after it is done."""
    done = np.full(len(slices), np.nan)
    done[FIRST : FIRST + LENGTH] = 1000.0 * np.arange(1, LENGTH + 1)
    done[FIRST + LENGTH :] = done[FIRST + LENGTH - 1]
    slices.values["class", "", "cpu"][PART] += 6.0
    slices.values["metric", "", "tps"][PART] *= 0.5
    key = ("progress", "VACUUM/lab/orders/scanning heap/autovacuum", "done")
    return slices.having(key, done)


def slower(slices: Slices) -> Slices:
    """Sessions wait for something outside that no sign knows."""
    slices.values["class", "", "throttle"][PART] = 12.0
    slices.values["metric", "", "tps"][PART] *= 0.5
    return slices


PROVOKED: Mapping[str, Callable[[Slices], Slices]] = {
    "lock-queue": lock_queue,
    "checkpoint-storm": checkpoint_storm,
    "temp-spill": temp_spill,
    "connection-flood": connection_flood,
    "plan-change": plan_change,
    "statement-change": statement_change,
    "disk": disk,
    "vacuum": vacuum,
    "slower": slower,
}
"""Incidents by their kind."""
