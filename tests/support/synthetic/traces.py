"""A stored trace of which every figure is known.

Enters: a folder. Leaves: a trace of 30 s with 100 transactions per second and one checkpoint from
second 10 to 15, of which the last second is the sync; a session waits for WALWrite half of the
time, and during the checkpoint all of it. Never: starts a server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pgassay.samples.forms.trace import TraceFile
from pgassay.samples.trace_directory import TraceDirectory, TraceWriter
from pgassay.trials.trace.output import PhaseEvent, PointReading

START_NS = 1_800_000_000_000_000_000
SECONDS = 30
CHECKPOINT_S = (10, 15)
DESCRIBED: dict[str, Any] = {
    "schema": TraceFile.schema_name(),
    "pgassay": "0",
    "server": "lab@db1:5432/lab",
    "server_version": "15.18",
    "program": "/usr/lib/postgresql/15/bin/postgres",
    "started_ns": START_NS,
    "ended_ns": START_NS + SECONDS * 10**9,
    "ended_by": "duration",
    "complaint": "",
    "what": ["lwlocks", "checkpoints"],
    "ways": {"lwlock_wait": "usdt", "phases": "usdt"},
    "pair_cost_ns": {"lwlock_wait": 1000.0, "phases": 1000.0},
    "missing": ["wal_sync: this server has no pg_fdatasync (uprobe)"],
    "unmatched": {"lwlock_wait": 3},
    "lost_events": 0,
    "full_maps": [],
    "relations": [
        {"point": "write", "name": "accounts", "kind": "table", "count": 4, "total_ns": 8000},
    ],
    "cost": None,
}


def at(second: float) -> int:
    """Unix time of a second of the trace."""
    return START_NS + round(second * 1e9)


def synthetic_trace(folder: Path) -> TraceDirectory:
    """The directory, complete."""
    directory = TraceDirectory.create(folder)
    with TraceWriter(directory) as writer:
        for second in range(SECONDS):
            busy = CHECKPOINT_S[0] <= second < CHECKPOINT_S[1]
            waits = PointReading(
                "lwlock_wait", "8", 1000, 10**9 if busy else 5 * 10**8, {512: 990, 4096: 10}
            )
            # In the last seconds nothing waits.
            points = [("WALWrite", waits)] if second < 25 else []
            writer.add_reading(at(second), at(second + 1), points)
            writer.add_transactions(at(second), 100 * second)
        writer.add_transactions(at(SECONDS), 100 * SECONDS)
        begin, end = CHECKPOINT_S
        writer.add_phases(
            [
                PhaseEvent("checkpoint", True, at(begin), 0x80),
                PhaseEvent("write", True, at(begin + 0.1), 0),
                PhaseEvent("write", False, at(end - 1), 0),
                PhaseEvent("sync", True, at(end - 1), 0),
                PhaseEvent("sync", False, at(end - 0.1), 0),
                PhaseEvent("checkpoint", False, at(end), 0),
            ]
        )
    directory.write_file(directory.MARK, TraceFile.read(DESCRIBED))
    return directory
