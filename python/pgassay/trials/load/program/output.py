"""Reads what a user's program reports: its throughput, and latencies from logs that it writes.

Enters: its output, and where in it the figure stands; the prefix of a log of pgbench's -l.
Leaves: transactions per second; `Latencies`, one per second or interval. Never: guesses: a figure
that is not there is a TrialError, and so is an aggregated log, which holds no single latencies.

Lines of pgbench's log (PostgreSQL documentation, pgbench, "Per-Transaction Logging"): client,
transaction, time in µs (or a word for a failed or skipped one), script, epoch s, µs, …
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pgassay.refusals.refusal import TrialRefused
from pgassay.spec.load.table import ThroughputTable
from pgassay.trials.load.interval_rows import INTERVAL_NS, Latencies, hdr_buckets


def throughput(text: str, where: ThroughputTable) -> float:
    """Returns the throughput that the program printed; `text` is the program's stdout or the file
    that was named."""
    if where.json_ is not None:
        found = _at(_json(text), where.json_)
        named = f"load.throughput.json = {where.json_!r}"
    else:
        matches = re.findall(where.pattern or "", text)
        named = f"load.throughput.pattern = {where.pattern!r}"
        if not matches:
            raise TrialRefused("no-match-in-output", named)
        found = matches[-1]
    try:
        if isinstance(found, bool):
            raise ValueError
        tps = float(found)
    except (TypeError, ValueError):
        raise TrialRefused("figure-not-a-number", named, found=str(found)[:60]) from None
    if not math.isfinite(tps) or tps < 0:
        raise TrialRefused("figure-no-throughput", named, tps=tps)
    return tps


def _json(text: str) -> Any:
    """The whole output, or the last line of it that is JSON: programs talk before they report."""
    for candidate in (text, *reversed(text.splitlines())):
        if candidate.strip():
            try:
                return json.loads(candidate)
            except ValueError:
                continue
    raise TrialRefused("output-without-json")


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            known = ", ".join(list(value)[:8]) if isinstance(value, dict) else "nothing by name"
            raise TrialRefused("no-such-place-in-output", part=part, path=path, known=known)
    return value


_NO_LATENCY = ("skipped", "failed", "serialization", "deadlock")
_EPOCH_LIKE = 1_000_000_000
"""An aggregated log begins its lines with a time; no client has so high a number."""


def read_pgbench_log(prefix: Path) -> tuple[Latencies, ...]:
    """Reads the transaction log of pgbench: PREFIX.PID and, of further threads,
    PREFIX.PID.THREAD."""
    files = sorted(file for file in prefix.parent.glob(f"{prefix.name}.*") if file.is_file())
    if not files:
        raise TrialRefused("pgbench-log-missing", prefix=prefix)
    seconds: dict[int, list[int]] = {}
    for file in files:
        for end_us, latency_us in _latencies_in(file):
            seconds.setdefault(end_us // 1_000_000, []).append(latency_us * 1000)
    return tuple(_of_second(second, seconds[second]) for second in sorted(seconds))


def _latencies_in(file: Path) -> Iterator[tuple[int, int]]:
    with file.open(encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            words = line.split()
            try:
                if int(words[0]) >= _EPOCH_LIKE:
                    raise TrialRefused("pgbench-log-aggregated", str(file))
                if words[2] not in _NO_LATENCY:
                    yield int(words[4]) * 1_000_000 + int(words[5]), int(words[2])
            except (ValueError, IndexError):
                place = f"{file}:{number}"
                raise TrialRefused("not-a-line-of-a-pgbench-log", place) from None


def _of_second(second: int, latencies_ns: list[int]) -> Latencies:
    found = np.array(latencies_ns, np.int64)
    values, counts = hdr_buckets(found)
    return Latencies(second * INTERVAL_NS + INTERVAL_NS // 2, int(found.sum()), values, counts)
