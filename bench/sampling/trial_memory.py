"""Memory of the samples of a long simulated trial, stored in parts or all at its end.

    python -m bench.sampling.trial_memory drained|at-the-end

Enters: which. Leaves: one line: rows, the peak of the process in MB, and its peak before the trial.
Never: counts the samples inside the native sampler, some tens of bytes each.
"""

from __future__ import annotations

import random
import resource
import sys

from pgassay.samples.storage.tables import as_table, parquet, parquet_of
from pgassay.trials.guards.foreign_sessions import foreign_load
from pgassay.trials.model.columns import COUNTERS, WAITS
from pgassay.trials.model.record import Columns
from pgassay.trials.sampling.samplers import SampleBuffer

PIECES = 720
"""Of five seconds: one hour."""
TICKS_A_SECOND, SESSIONS, READINGS_A_PIECE = 10, 64, 1500
TICKS = 5 * TICKS_A_SECOND
WORDS = [f"word {number}" for number in range(300)]
"""The native module gives one string for each text, and a number of its own for each value."""
SECOND_NS = 1_000_000_000


class MadeUp:
    """An hour of 64 busy sessions, in so many pieces."""

    def __init__(self, pieces: int) -> None:
        self._length, self._at = PIECES // pieces, 0
        self._random = random.Random(1)  # what repeats would pack too well

    def take_waits(self) -> Columns:
        self._at += self._length
        ticks = [
            (self._at * TICKS + tick) * SECOND_NS // 10 for tick in range(TICKS * self._length)
        ]
        rows = len(ticks) * SESSIONS
        return {
            "tick_ns": [tick * 1 for tick in ticks for _ in range(SESSIONS)],
            "pid": [10_000 + session for _ in ticks for session in range(SESSIONS)],
            "leader_pid": [None] * rows,
            "backend_type": [WORDS[0]] * rows,
            "state": [WORDS[1]] * rows,
            "wait_event_type": [WORDS[row % 5] for row in range(rows)],
            "wait_event": self._random.choices(WORDS[:40], k=rows),
            "query_id": self._random.choices(range(10**15, 10**15 + 50), k=rows),
            "xact_start_ns": [self._random.getrandbits(12) << 20 for _ in range(rows)],
            "scenario": self._random.choices(WORDS[:4], k=rows),
        }

    def take_counters(self) -> Columns:
        rows = READINGS_A_PIECE * self._length
        return {
            "time_ns": list(range(rows)),
            "source": [WORDS[row % 12] for row in range(rows)],
            "object": [WORDS[row % 60] for row in range(rows)],
            "name": [WORDS[row % 300] for row in range(rows)],
            "value": [float(self._random.getrandbits(30)) for _ in range(rows)],
        }

    take_host = take_counters


def drained() -> int:
    """Every five seconds, packed."""
    taken = SampleBuffer(MadeUp(PIECES))
    for _ in range(PIECES):
        taken.take()
    foreign_load(taken.each_wait(), (0, 1 << 62), 10)
    for parts in (taken.waits, taken.counters, taken.host):
        parquet_of(parts, parts.schema)
    return taken.waits.num_rows


def at_the_end() -> int:
    """All at once, as lists."""
    source = MadeUp(1)
    waits, counters, host = source.take_waits(), source.take_counters(), source.take_host()
    foreign_load(waits, (0, 1 << 62), 10)
    for columns, schema in ((waits, WAITS), (counters, COUNTERS), (host, COUNTERS)):
        parquet(as_table(columns, schema))
    return len(waits["pid"])


if __name__ == "__main__":
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = drained() if sys.argv[1:] == ["drained"] else at_the_end()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{rows} rows of waits, peak {peak_mb:.0f} MB, {before_mb:.0f} MB before the first")
