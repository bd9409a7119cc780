"""Tables of a run as Parquet, written and read back.

Enters: columns as a load or sampler gives them; files. Leaves: bytes of a Parquet file; tables,
whole or some rows at a time, or one line that says what is wrong with a file. Never: writes a file,
or reads a column that is not needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.dataset import dataset

from pgassay.durable import OWNER_ONLY
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.trials.model.columns import (
    CHECKPOINTS,
    COUNTERS,
    EVENTS,
    LOAD,
    QUERIES,
    SLICES,
    WAITS,
)
from pgassay.trials.model.record import Checkpoint, Columns
from pgassay.trials.server_log.events import LogEvent

TABLES = {
    "load": LOAD,
    "waits": WAITS,
    "postgres": COUNTERS,
    "host": COUNTERS,
    "checkpoints": CHECKPOINTS,
    "events": EVENTS,
}
"""File name (without .parquet) → schema, for every file of a trial."""
_SCHEMAS = {**TABLES, "queries": QUERIES, "slices": SLICES}
"""And of a query set's trial, and of a segment."""
_ADDED_LATER = "events"
"""A table that older runs do not have; it reads as empty."""
_RISING = ("latency_ns", "response_ns")
"""Lists in ascending order."""
_SELDOM_TWICE = ("time_ns", "tick_ns", "xact_start_ns", "value")
"""Columns of moments and readings: a dictionary of them is as long as they are."""
_COMPRESSION = 9
_AHEAD = 4
"""Batches of 131 072 rows that are read while one is in use."""
_FEW = 131_072
"""Rows that are read at once, by one thread: others would take longer to begin, most of all where
programs wait for processors."""


def as_table(columns: Columns, schema: pa.Schema) -> pa.Table:
    """Columns as one of `TABLES`; nullable ones that are missing are null: a
    program of the user's measures less than the engine."""
    rows = len(next(iter(columns.values()), []))
    absent: dict[str, list[Any]] = {field.name: [None] * rows for field in schema if field.nullable}
    return pa.Table.from_pydict({**absent, **columns}, schema=schema)


def logged_tables(
    checkpoints: Iterable[Checkpoint], events: Iterable[LogEvent]
) -> dict[str, pa.Table]:
    """Returns what was read of a log, by the name of the table."""
    rows = {
        "checkpoints": [asdict(checkpoint) for checkpoint in checkpoints],
        "events": [{**vars(event), "figures": list(event.figures.items())} for event in events],
    }
    return {name: pa.Table.from_pylist(found, TABLES[name]) for name, found in rows.items()}


def parquet(table: pa.Table) -> bytes:
    """Writes a table as the bytes of a whole file."""
    return parquet_of([table], table.schema)


def parquet_of(parts: Iterable[pa.Table], schema: pa.Schema) -> bytes:
    """Writes a whole file of many tables, of which one at a time is in memory."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, **_packing(schema)) as writer:
        for part in parts:
            writer.write_table(part)
    return bytes(sink.getvalue())


def new_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Begins a Parquet file that only its owner may read."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    return pq.ParquetWriter(path, schema, **_packing(schema))


def _packing(schema: pa.Schema) -> dict[str, Any]:
    """Returns how to write a table small; histograms are most of a run, and their buckets lie in
    order."""
    rising = [_leaf(field) for field in schema if field.name in _RISING]
    worded = [_leaf(field) for field in schema if field.name not in (*_RISING, *_SELDOM_TWICE)]
    return {
        "compression": "zstd",
        "compression_level": _COMPRESSION,
        "use_dictionary": worded,
        "column_encoding": dict.fromkeys(rising, "DELTA_BINARY_PACKED") or None,
    }


def _leaf(field: pa.Field) -> str:
    """The path of a column's values inside a Parquet file."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name


def read_table(path: Path, name: str) -> pa.Table:
    """Reads a whole table."""
    if name == _ADDED_LATER and not path.exists():
        return TABLES[name].empty_table()
    schema = _SCHEMAS[name]
    with clear_read_errors(path), _opened(path, name) as file:
        stored = file.schema_arrow
        known = [one for one in schema.names if one in stored.names]
        found = file.read(known, use_threads=file.metadata.num_rows > _FEW)
        for field in schema:
            if field.name not in known:
                found = found.append_column(field, pa.nulls(len(found), field.type))
        found.validate(full=True)  # texts that are no UTF-8
        return found.select(schema.names).cast(schema).replace_schema_metadata(stored.metadata)


class Batched:
    """A table of which some rows at a time are in memory: a day of counters has hundreds of
    megabytes."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        with clear_read_errors(path), _opened(path, name) as file:
            self.num_rows: int = file.metadata.num_rows

    @cached_property
    def _whole(self) -> pa.Table:
        return read_table(self._path, self._name)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Reads all rows with these columns; of many rows some are read ahead."""
        if 0 < self.num_rows <= _FEW:
            yield from self._whole.select(columns).to_batches()
            return
        with clear_read_errors(self._path):
            found = dataset(self._path, _SCHEMAS[self._name], format="parquet")
            for batch in found.to_batches(columns=list(columns), batch_readahead=_AHEAD):
                batch.validate(full=True)
                yield batch


def _opened(path: Path, name: str) -> pq.ParquetFile:
    """Raises DirectoryRefused where a column is missing that every version has written."""
    file = pq.ParquetFile(path, pre_buffer=False)
    needed = {field.name for field in _SCHEMAS[name] if not field.nullable}
    if missing := needed - set(file.schema_arrow.names):
        file.close()
        raise DirectoryRefused("column-missing", path, column=min(missing))
    return file


@contextmanager
def clear_read_errors(path: Path) -> Iterator[None]:
    """Turns errors of reading a Parquet file into one line that names the file."""
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:  # a name that is no UTF-8
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DirectoryRefused("cannot-be-read", path, why=reason) from None
