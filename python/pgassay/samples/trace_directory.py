"""The directory of a trace.

Enters: readings with the names of their keys, phases, transactions, what the trace was. Leaves:
files, whole or absent. Never: holds more than a minute of readings in memory.

    DIR/  trace.json  points.parquet  phases.parquet  transactions.parquet
          program.bt  report.html

Times are nanoseconds of Unix time, as in every other table of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.samples.directory import StoredDirectory
from pgassay.samples.forms.trace import TraceFile
from pgassay.samples.layout import TRACE
from pgassay.samples.storage.files import clear_errors
from pgassay.samples.storage.json_files import stored_file
from pgassay.samples.storage.tables import clear_read_errors, new_writer
from pgassay.trials.model.columns import WORD
from pgassay.trials.trace.output import PhaseEvent, PointReading

PROGRAM = "program.bt"
POINTS = pa.schema(
    [
        pa.field("start_ns", pa.int64(), nullable=False),
        pa.field("end_ns", pa.int64(), nullable=False),
        pa.field("point", WORD, nullable=False),
        pa.field("key", WORD, nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("total_ns", pa.int64(), nullable=False),
        pa.field("bucket_us", pa.list_(pa.int64()), nullable=False),
        pa.field("bucket_count", pa.list_(pa.int64()), nullable=False),
    ]
)
"""One row per second, point and key that was met in it; a row without a point is a second in which
none was. A bucket is named by its lower bound: 0, or
a power of two; its upper bound is the double, of 0 it is 1."""
PHASES = pa.schema(
    [
        pa.field("time_ns", pa.int64(), nullable=False),
        pa.field("phase", WORD, nullable=False),
        pa.field("begins", pa.bool_(), nullable=False),
        pa.field("flags", pa.int64(), nullable=False),
    ]
)
"""`checkpoint`, and in it `write` and `sync`. Flags are those of the checkpoint (xlog.h)."""
TRANSACTIONS = pa.schema(
    [
        pa.field("time_ns", pa.int64(), nullable=False),
        pa.field("transactions", pa.int64(), nullable=False),
    ]
)
"""The server's counters, commits and rollbacks of all databases."""
_FILES = {"points": POINTS, "phases": PHASES, "transactions": TRANSACTIONS}
_ROWS_IN_MEMORY = 5000
_NOTHING = PointReading("", "", 0, 0, {})


class TraceDirectory(StoredDirectory):
    """Reads and writes one."""

    KIND, MARK = "stored trace", TRACE

    def described(self) -> TraceFile:
        """Reads trace.json."""
        return stored_file(self.path / TRACE, TraceFile)

    def table(self, name: str) -> pa.Table:
        """Reads one of the Parquet files."""
        path = self.path / f"{name}.parquet"
        with clear_read_errors(path):
            found = pq.read_table(path, schema=_FILES[name])
            found.validate(full=True)
            return found


class TraceWriter:
    """Writes the tables as the readings come; use it as a context manager."""

    def __init__(self, directory: TraceDirectory) -> None:
        self._folder = directory.path
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _FILES}

    def __enter__(self) -> Self:
        with clear_errors(self._folder):
            for name, schema in _FILES.items():
                self._writers[name] = new_writer(self._aside(name), schema)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            with suppress(OSError):
                for name, writer in self._writers.items():
                    writer.close()
                    self._aside(name).unlink(missing_ok=True)
            return
        with clear_errors(self._folder):
            for name, writer in self._writers.items():
                self._flush(name)
                writer.close()
                self._aside(name).rename(self._folder / f"{name}.parquet")

    def add_reading(
        self, start_ns: int, end_ns: int, points: Sequence[tuple[str, PointReading]]
    ) -> None:
        """Adds one second: points with the names of their keys."""
        for key, reading in points or [("", _NOTHING)]:
            self._add(
                "points",
                {
                    "start_ns": start_ns,
                    "end_ns": end_ns,
                    "point": reading.point,
                    "key": key,
                    "count": reading.count,
                    "total_ns": reading.total_ns,
                    "bucket_us": list(reading.buckets),
                    "bucket_count": list(reading.buckets.values()),
                },
            )

    def add_phases(self, phases: Iterable[PhaseEvent]) -> None:
        """Beginnings and ends of a checkpoint's phases."""
        for event in phases:
            self._add("phases", vars(event))

    def add_transactions(self, time_ns: int, transactions: int) -> None:
        """Adds the server's counter of transactions at a moment (ns)."""
        self._add("transactions", {"time_ns": time_ns, "transactions": transactions})

    def _add(self, name: str, row: dict[str, Any]) -> None:
        self._rows[name].append(row)
        if len(self._rows[name]) >= _ROWS_IN_MEMORY:
            with clear_errors(self._folder):
                self._flush(name)

    def _flush(self, name: str) -> None:
        if self._rows[name]:
            self._writers[name].write_table(pa.Table.from_pylist(self._rows[name], _FILES[name]))
            self._rows[name] = []

    def _aside(self, name: str) -> Path:
        return self._folder / f".{name}.parquet.part"
