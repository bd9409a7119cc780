"""Made-up slices, and made-up samples of a busy server.

Enters: figures. Leaves: `Slices`, tables of samples in a folder. Never: observes a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.counters import Key
from pgassay.trials.model.record import Piece

S = 10**9


def slices_from(
    values: Mapping[Key, list[float]], *, start_s: int = 0, width_s: float = 10.0
) -> Slices:
    """Slices without gaps."""
    count = len(next(iter(values.values())))
    starts = (start_s * S + np.arange(count) * round(width_s * S)).astype(np.int64)
    full = np.full(count, width_s)
    return Slices(starts, full, full, {key: np.array(row) for key, row in values.items()})


def busy_piece(start_s: int, seconds: int, tps: float = 100.0) -> Piece:
    """Samples of one session in two waits by turns, of a counter and a state, each second."""
    looks = [(start_s * S + at * S // 10, at) for at in range(10 * seconds)]
    waits: dict[str, list[Any]] = {
        "tick_ns": [moment for moment, _ in looks],
        "pid": [7 for _ in looks],
        "leader_pid": [None for _ in looks],
        "backend_type": ["client backend" for _ in looks],
        "state": ["active" for _ in looks],
        "wait_event_type": ["Lock" if at % 10 < 6 else "IO" for _, at in looks],
        "wait_event": ["tuple" if at % 10 < 6 else "WalSync" for _, at in looks],
        "query_id": [42 for _ in looks],
        "xact_start_ns": [None for _ in looks],
        "scenario": [None for _ in looks],
    }
    rows = [
        ((start_s + at) * S, *key, value)
        for at in range(seconds + 1)
        for key, value in (
            (("cluster", "", "xact_commit"), at * tps),
            (("database", "lab", "numbackends"), 3.0 + at % 2),
        )
    ]
    names = ("time_ns", "source", "object", "name", "value")
    counters = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Piece(waits, counters, {name: [] for name in names})
