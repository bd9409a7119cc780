"""Latencies from the log that pgbench writes with -l.

Enters: the log's prefix. Leaves: `Latencies`, one per second. Never: reads aggregated logs, which
hold no single latencies.

Format: PostgreSQL documentation, pgbench, "Per-Transaction Logging":
client, transaction, time in µs (or a word for a failed or skipped one), script, epoch s, µs, …
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pgassay.errors import TrialError
from pgassay.trials.load.interval_rows import INTERVAL_NS, Latencies, hdr_buckets

_NO_LATENCY = ("skipped", "failed", "serialization", "deadlock")
_EPOCH_LIKE = 1_000_000_000
"""An aggregated log begins its lines with a time; no client has so high a number."""


def read_pgbench_log(prefix: Path) -> tuple[Latencies, ...]:
    """Reads the transaction log of pgbench: PREFIX.PID and, of further threads,
    PREFIX.PID.THREAD."""
    files = sorted(file for file in prefix.parent.glob(f"{prefix.name}.*") if file.is_file())
    if not files:
        raise TrialError(f"load.latency.pgbench_log: there is no {prefix}.*; did pgbench get -l?")
    seconds: dict[int, list[int]] = {}
    for file in files:
        for end_us, latency_us in _lines(file):
            seconds.setdefault(end_us // 1_000_000, []).append(latency_us * 1000)
    return tuple(_second(second, seconds[second]) for second in sorted(seconds))


def _lines(file: Path) -> Iterator[tuple[int, int]]:
    with file.open(encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            words = line.split()
            try:
                if int(words[0]) >= _EPOCH_LIKE:
                    raise TrialError(f"{file}: is aggregated; drop --aggregate-interval")
                if words[2] not in _NO_LATENCY:
                    yield int(words[4]) * 1_000_000 + int(words[5]), int(words[2])
            except (ValueError, IndexError):
                raise TrialError(f"{file}:{number}: is not a line of a pgbench log") from None


def _second(second: int, latencies_ns: list[int]) -> Latencies:
    found = np.array(latencies_ns, np.int64)
    values, counts = hdr_buckets(found)
    return Latencies(second * INTERVAL_NS + INTERVAL_NS // 2, int(found.sum()), values, counts)
