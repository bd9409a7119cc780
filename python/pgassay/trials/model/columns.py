"""The columns of every table that a trial leaves, and such tables kept compressed while it runs.

Enters: tables, piece by piece. Leaves: pyarrow schemas; the same rows in the same order, some ten
thousands at a time. Never: holds more than one such part unpacked, or writes to a disk beside a
load that is measured.

Times are nanoseconds of Unix time on the run's one axis. Counter values are raw, as the server
or kernel showed them; the analysis takes differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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

SLICES = pa.schema(
    [
        pa.field("start_ns", pa.int64(), nullable=False),
        pa.field("source", WORD, nullable=False),
        pa.field("object", WORD, nullable=False),
        pa.field("name", WORD, nullable=False),
        pa.field("value", pa.float64(), nullable=False),
    ]
)
"""slices.parquet of a segment and files of thinned ones: signal by signal, in order of time. A
value holds until the next of its signal in the file, and is not a number where it was not read.
Signals `slice//seconds` and `slice//width_s` say how much of a slice was read and how long it
is."""

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

QUERIES = pa.schema(
    [
        pa.field("query", WORD, nullable=False),
        pa.field("arm", WORD, nullable=False),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("began_ns", pa.int64(), nullable=False),
        pa.field("ms", pa.float64()),
        pa.field("rows", pa.int64()),
        pa.field("sqlstate", pa.string()),
        pa.field("discarded", pa.bool_(), nullable=False),
    ]
)
"""queries.parquet of a query set: one row per execution. `ms` and `rows` are null where it failed,
`rows` also where a discarded one was explained, `sqlstate` where it did not fail; `repeat` counts
from 1, over all sessions, and is 0 where it is discarded."""

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


ROWS_AT_ONCE = 20_000
_PACKING = pa.ipc.IpcWriteOptions(compression="zstd")


def without_samples(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a `TrialRecord` for counters, with nothing in them: where arms ran at
    once nobody can say which of them counted."""
    kept = {name: one for name, one in fingerprint.items() if name != "processors"}
    empty = {name: PackedTables(COUNTERS) for name in ("counters", "host")}
    return {**empty, "fingerprint": kept}


class PackedTables:
    """Tables of samples, compressed in the order in which they were added; iterating unpacks a part
    at a time, with one entry a word."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._packed: list[bytes] = []
        self._unpacked: list[pa.Table] = []
        self._unpacked_rows = 0
        self.num_rows = 0

    def add(self, table: pa.Table) -> None:
        """Adds rows of the same form."""
        self._unpacked.append(table)
        self._unpacked_rows += table.num_rows
        self.num_rows += table.num_rows
        if self._unpacked_rows >= ROWS_AT_ONCE:
            self._pack()

    def __iter__(self) -> Iterator[pa.Table]:
        return self.tables(self.schema.names)

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Iterates over the parts, with these columns only; none where nothing was added."""
        wanted = [self.schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        for part in self._packed:
            with pa.ipc.open_stream(part, options=options) as reader:
                yield reader.read_all().select(names)
        if self._unpacked:
            yield self._whole().select(names)

    def _whole(self) -> pa.Table:
        return pa.concat_tables(self._unpacked).unify_dictionaries().combine_chunks()

    def _pack(self) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.schema, options=_PACKING) as writer:
            writer.write_table(self._whole())
        # What the sink itself holds has room for as much again.
        self._packed.append(sink.getvalue().to_pybytes())
        self._unpacked.clear()
        self._unpacked_rows = 0
