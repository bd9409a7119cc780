"""Counts of what the server's log reports of a trial.

Enters: a stored trial, a window of it. Leaves: how often each kind of event was logged.
Never: explains a difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pgassay.samples.stored_parts import StoredPart

CHECKPOINTS = "checkpoint"
ERRORS = "error"


def logged_in(trial: StoredPart, start_ns: int, end_ns: int) -> Mapping[str, int]:
    """Events by kind; checkpoints as `checkpoint CAUSE`, errors as `error SQLSTATE`."""
    found = logged_by_window(trial, np.array([start_ns, end_ns]))
    return Counter({kind: int(count) for kind, (count,) in found.items()})


def logged_by_window(
    trial: StoredPart, edges_ns: NDArray[np.int64]
) -> Mapping[str, NDArray[np.int64]]:
    """Counts events by kind in adjacent windows, named as by `logged_in`."""
    windows = len(edges_ns) - 1
    found: dict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(windows, np.int64))

    def add(kind: str, at_ns: int, count: int) -> None:
        window = int(np.searchsorted(edges_ns, at_ns, side="right")) - 1
        if 0 <= window < windows:
            found[kind][window] += count

    for row in trial.table("checkpoints").select(["started_ns", "cause"]).to_pylist():
        add(f"{CHECKPOINTS} {row['cause']}", row["started_ns"], 1)
    columns = ["time_ns", "kind", "severity", "sqlstate", "count"]
    for row in trial.table("events").select(columns).to_pylist():
        kind = row["kind"]
        if kind == ERRORS:
            kind = f"{ERRORS} {row['sqlstate'] or row['severity']}"
        add(kind, row["time_ns"], row["count"])
    return found
