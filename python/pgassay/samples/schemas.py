"""The columns of every Parquet file in a run directory.

Enters: nothing. Leaves: pyarrow schemas. Never: computes.

Times are nanoseconds of Unix time on the run's one axis. Counter values are raw, as the server
or kernel showed them; differences are the analysis's business.
"""

from __future__ import annotations

import pyarrow as pa

_WORD = pa.dictionary(pa.int32(), pa.string())

LOAD = pa.schema(
    [
        pa.field("start_ns", pa.int64(), nullable=False),
        pa.field("step", pa.int32(), nullable=False),
        pa.field("measured", pa.bool_(), nullable=False),
        pa.field("scenario", _WORD, nullable=False),
        pa.field("transactions", pa.int64(), nullable=False),
        pa.field("failed", pa.int64(), nullable=False),
        pa.field("latency_sum_ns", pa.int64(), nullable=False),
        pa.field("latency_ns", pa.list_(pa.int64()), nullable=False),
        pa.field("latency_count", pa.list_(pa.int64()), nullable=False),
        # Runs made before these were measured read as null.
        pa.field("slice", pa.int32()),
        pa.field("variant", _WORD),
        pa.field("error_sqlstate", pa.list_(pa.string())),
        pa.field("error_count", pa.list_(pa.int64())),
        pa.field("retried", pa.int64()),
        pa.field("retries", pa.int64()),
        pa.field("skipped", pa.int64()),
        pa.field("late", pa.int64()),
        pa.field("response_sum_ns", pa.int64()),
        pa.field("response_ns", pa.list_(pa.int64())),
        pa.field("response_count", pa.list_(pa.int64())),
        pa.field("lag_sum_ns", pa.int64()),
        pa.field("lag_max_ns", pa.int64()),
        pa.field("connects", pa.int64()),
        pa.field("connect_sum_ns", pa.int64()),
    ]
)
"""One row per interval × scenario; the lists are one HDR histogram's used buckets, of service
and of response times. In a step with slices, transactions that cross an edge have a row of their
own, without slice and variant."""

WAITS = pa.schema(
    [
        pa.field("tick_ns", pa.int64(), nullable=False),
        pa.field("pid", pa.int32()),
        pa.field("leader_pid", pa.int32()),
        pa.field("backend_type", _WORD),
        pa.field("state", _WORD),
        pa.field("wait_event_type", _WORD),
        pa.field("wait_event", _WORD),
        pa.field("query_id", pa.int64()),
        pa.field("xact_start_ns", pa.int64()),
        pa.field("scenario", _WORD),
    ]
)
"""One row per busy session and tick; a row without pid is a tick that found nobody busy."""

COUNTERS = pa.schema(
    [
        pa.field("time_ns", pa.int64(), nullable=False),
        pa.field("source", _WORD, nullable=False),
        pa.field("object", _WORD, nullable=False),
        pa.field("name", _WORD, nullable=False),
        pa.field("value", pa.float64(), nullable=False),
    ]
)
"""postgres.parquet and host.parquet: one row per value read."""

CHECKPOINTS = pa.schema(
    [
        pa.field("started_ns", pa.int64(), nullable=False),
        pa.field("ended_ns", pa.int64()),
        pa.field("cause", pa.string(), nullable=False),
        pa.field("buffers", pa.int64()),
        pa.field("write_s", pa.float64()),
        pa.field("sync_s", pa.float64()),
        pa.field("total_s", pa.float64()),
        pa.field("distance_kb", pa.int64()),
        pa.field("estimate_kb", pa.int64()),
        # Runs made before these were read from the log have null.
        pa.field("restartpoint", pa.bool_()),
        pa.field("buffers_percent", pa.float64()),
        pa.field("slru_buffers", pa.int64()),
        pa.field("files_added", pa.int64()),
        pa.field("files_removed", pa.int64()),
        pa.field("files_recycled", pa.int64()),
        pa.field("sync_files", pa.int64()),
        pa.field("sync_longest_s", pa.float64()),
        pa.field("sync_average_s", pa.float64()),
        pa.field("lsn", pa.int64()),
        pa.field("redo_lsn", pa.int64()),
    ]
)

EVENTS = pa.schema(
    [
        pa.field("time_ns", pa.int64(), nullable=False),
        pa.field("kind", _WORD, nullable=False),
        pa.field("object", _WORD, nullable=False),
        pa.field("severity", _WORD, nullable=False),
        pa.field("sqlstate", _WORD),
        pa.field("database", _WORD),
        pa.field("backend_type", _WORD),
        pa.field("pid", pa.int32()),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("figures", pa.map_(pa.string(), pa.float64())),
    ]
)
"""What the server's log tells besides checkpoints. Errors, statements, temporary files and lock
waits are summed by the second: `count` of them, figures added up, the largest as NAME_max."""

TABLES = {
    "load": LOAD,
    "waits": WAITS,
    "postgres": COUNTERS,
    "host": COUNTERS,
    "checkpoints": CHECKPOINTS,
    "events": EVENTS,
}
"""File name (without .parquet) → schema, for every file of a trial."""

ADDED_LATER = frozenset({"events"})
"""Tables that runs of before do not have; they read as empty."""
