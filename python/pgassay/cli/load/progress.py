"""A load's progress: pgbench's line, now and then.

Enters: the engine's progress. Leaves: lines on stderr. Never: writes to stdout.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from pgassay.cli.terminal.console import err
from pgassay.trials.load.engine import LoadRequest

_COUNTS = (
    "elapsed_s",
    "transactions",
    "failed",
    "skipped",
    "retried",
    "retries",
    "latency_ms",
    "latency_ms2",
    "lag_ms",
)


def print_opening(connections: int, since_s: float) -> None:
    """Prints a line while slow connections are being opened."""
    err.print(f"opening {connections} connections: {since_s:.0f} s so far", markup=False)


def reporter(
    request: LoadRequest, every_s: float | None, *, with_timestamp: bool
) -> Callable[[Mapping[str, Any]], None]:
    """A function that prints a line each `every_s` seconds, of what has happened since the last
    one. With a rate, latency counts from the intended start, as in pgbench."""
    due = every_s or 0.0
    before: Mapping[str, Any] = dict.fromkeys(_COUNTS, 0)

    def report(progress: Mapping[str, Any]) -> None:
        nonlocal due, before
        if every_s is None or progress["elapsed_s"] < due:
            return
        while due <= progress["elapsed_s"]:
            due += every_s
        since = {name: progress[name] - before[name] for name in _COUNTS}
        before = progress
        at = f"{time.time():.3f}" if with_timestamp else f"{progress['elapsed_s']:.1f}"
        parts = [f"progress: {at} s", *_figures(since)]
        step = request.steps[progress["step"]]
        if step.rate is not None:
            parts.append(f"lag {_mean(since, 'lag_ms'):.3f} ms")
            if request.latency_limit_ms is not None:
                parts.append(f"{since['skipped']} skipped")
        if request.max_tries not in (None, 1):
            parts.append(f"{since['retried']} retried, {since['retries']} retries")
        if len(request.steps) > 1:
            parts.append(f"{progress['clients']} clients")
        if not progress["measured"]:
            parts.append("warm-up")
        err.print(", ".join(parts), markup=False)

    return report


def _figures(since: Mapping[str, Any]) -> list[str]:
    mean = _mean(since, "latency_ms")
    # Rounding may bring equal latencies below 0.
    spread = math.sqrt(max(_mean(since, "latency_ms2") - mean * mean, 0.0))
    return [
        f"{since['transactions'] / since['elapsed_s']:.1f} tps",
        f"lat {mean:.3f} ms stddev {spread:.3f}",
        f"{since['failed']} failed",
    ]


def _mean(since: Mapping[str, Any], name: str) -> float:
    return since[name] / since["transactions"] if since["transactions"] else 0.0
