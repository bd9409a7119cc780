"""Counts of what the server's log reports of a trial.

Enters: a stored trial, a window of it. Leaves: how often each kind of event was logged.
Never: explains a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pgassay.samples.stored_parts import StoredPart

CHECKPOINTS = "checkpoint"
ERRORS = "error"


def logged_in(trial: StoredPart, start_ns: int, end_ns: int) -> Mapping[str, int]:
    """Events by kind; checkpoints as `checkpoint CAUSE`, errors as `error SQLSTATE`."""
    found: Counter[str] = Counter()
    for row in trial.table("checkpoints").select(["started_ns", "cause"]).to_pylist():
        if start_ns <= row["started_ns"] < end_ns:
            found[f"{CHECKPOINTS} {row['cause']}"] += 1
    columns = ["time_ns", "kind", "severity", "sqlstate", "count"]
    for row in trial.table("events").select(columns).to_pylist():
        if start_ns <= row["time_ns"] < end_ns:
            kind = row["kind"]
            if kind == ERRORS:
                kind = f"{ERRORS} {row['sqlstate'] or row['severity']}"
            found[kind] += row["count"]
    return found
