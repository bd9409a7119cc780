"""A load's progress, a line now and then like pgbench's.

Enters: the engine's progress. Leaves: lines on stderr. Never: writes to stdout.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from pgassay.cli.console import err


def reporter(every_s: float | None, *, with_timestamp: bool) -> Callable[[Mapping[str, Any]], None]:
    """Prints a line each `every_s` seconds; without it, nothing."""
    due = every_s or 0.0

    def report(progress: Mapping[str, Any]) -> None:
        nonlocal due
        if every_s is None or progress["elapsed_s"] < due:
            return
        due += every_s
        at = f"{time.time():.3f}" if with_timestamp else f"{progress['elapsed_s']:.1f}"
        warmup = "" if progress["measured"] else ", warm-up"
        err.print(
            f"progress: {at} s, {progress['tps']:.1f} tps, {progress['failed']} failed,"
            f" {progress['clients']} clients{warmup}"
        )

    return report
