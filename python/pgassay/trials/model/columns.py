"""The columns of every table that a trial leaves.

Enters: nothing. Leaves: pyarrow schemas. Never: computes.

Times are nanoseconds of Unix time on the run's one axis. Counter values are raw, as the server
or kernel showed them; the analysis takes differences.
"""

from __future__ import annotations

import pyarrow as pa

WORD = pa.dictionary(pa.int32(), pa.string())

WAITS = pa.schema(
    [
        pa.field("tick_ns", pa.int64(), nullable=False),
        pa.field("pid", pa.int32()),
        pa.field("leader_pid", pa.int32()),
        pa.field("backend_type", WORD),
        pa.field("state", WORD),
        pa.field("wait_event_type", WORD),
        pa.field("wait_event", WORD),
        pa.field("query_id", pa.int64()),
        pa.field("xact_start_ns", pa.int64()),
        pa.field("scenario", WORD),
    ]
)
"""One row per busy session and tick; a row without pid is a tick without busy sessions. Starts of
transactions are in steps of 2²⁰ ns, about a millisecond."""

COUNTERS = pa.schema(
    [
        pa.field("time_ns", pa.int64(), nullable=False),
        pa.field("source", WORD, nullable=False),
        pa.field("object", WORD, nullable=False),
        pa.field("name", WORD, nullable=False),
        pa.field("value", pa.float64(), nullable=False),
    ]
)
"""postgres.parquet and host.parquet: one row per value read."""

LOAD = pa.schema(
    [
        pa.field("start_ns", pa.int64(), nullable=False),
        pa.field("step", pa.int32(), nullable=False),
        pa.field("measured", pa.bool_(), nullable=False),
        pa.field("scenario", WORD, nullable=False),
        pa.field("transactions", pa.int64(), nullable=False),
        pa.field("failed", pa.int64(), nullable=False),
        pa.field("latency_sum_ns", pa.int64(), nullable=False),
        pa.field("latency_ns", pa.list_(pa.int64()), nullable=False),
        pa.field("latency_count", pa.list_(pa.int64()), nullable=False),
        # Runs made before these were measured read as null.
        pa.field("slice", pa.int32()),
        pa.field("variant", WORD),
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
"""One row per interval × scenario; the lists are one histogram's used buckets, of service and of
response times; `histogram_layout.py` says how wide they are. In a step with slices, transactions
that cross a slice switch have a separate row, without slice and variant."""

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
        pa.field("kind", WORD, nullable=False),
        pa.field("object", WORD, nullable=False),
        pa.field("severity", WORD, nullable=False),
        pa.field("sqlstate", WORD),
        pa.field("database", WORD),
        pa.field("backend_type", WORD),
        pa.field("pid", pa.int32()),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("figures", pa.map_(pa.string(), pa.float64())),
    ]
)
"""Events of the server's log besides checkpoints. Errors, statements, temporary files and lock
waits are summed by the second: `count` of them, figures added up, the largest as NAME_max."""
