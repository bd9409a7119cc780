"""Columns as tables under a schema, and tables as Parquet.

Enters: columns as a load or sampler gives them. Leaves: pyarrow tables, bytes of a Parquet file.
Never: writes a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.trials.record import Columns

_RISING = ("latency_ns", "response_ns")
"""Lists in ascending order."""
_SELDOM_TWICE = ("time_ns", "tick_ns", "xact_start_ns", "value")
"""Columns of moments and readings: a dictionary of them is as long as they are."""
_COMPRESSION = 9


def as_table(columns: Columns, schema: pa.Schema) -> pa.Table:
    """Columns as one of the tables of `schemas.py`; nullable ones that are missing are null: a
    program of the user's measures less than the engine."""
    rows = len(next(iter(columns.values()), []))
    absent: dict[str, list[Any]] = {field.name: [None] * rows for field in schema if field.nullable}
    return pa.Table.from_pydict({**absent, **columns}, schema=schema)


def parquet(table: pa.Table) -> bytes:
    """A whole file."""
    return parquet_of([table], table.schema)


def parquet_of(parts: Iterable[pa.Table], schema: pa.Schema) -> bytes:
    """A whole file of many tables, of which one at a time is in memory."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, **packing(schema)) as writer:
        for part in parts:
            writer.write_table(part)
    return bytes(sink.getvalue())


def packing(schema: pa.Schema) -> dict[str, Any]:
    """How to write a table small; histograms are most of a run, and their buckets lie in order."""
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
