"""The columns of every Parquet file in a run directory.

Enters: nothing. Leaves: pyarrow schemas. Never: computes.

Times are nanoseconds of Unix time on the run's one axis. Counter values are raw, as the server
or kernel showed them; differences are the analysis's business.
"""

from __future__ import annotations

import pyarrow as pa

from pgassay.trials.sample_columns import COUNTERS as COUNTERS
from pgassay.trials.sample_columns import WAITS as WAITS
from pgassay.trials.sample_columns import WORD

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
"""One row per interval × scenario; the lists are one HDR histogram's used buckets, of service
and of response times. In a step with slices, transactions that cross an edge have a row of their
own, without slice and variant."""

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
