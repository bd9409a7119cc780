"""Columns as tables under a schema, and tables as Parquet.

Enters: columns as a load or sampler gives them. Leaves: pyarrow tables, bytes of a Parquet file.
Never: writes a file.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.trials.record import Columns


def table_of(columns: Columns, schema: pa.Schema) -> pa.Table:
    """A program of the user's measures less than the engine: what it lacks is null."""
    rows = len(next(iter(columns.values()), []))
    absent: dict[str, list[Any]] = {field.name: [None] * rows for field in schema if field.nullable}
    return pa.Table.from_pydict({**absent, **columns}, schema=schema)


def parquet(table: pa.Table) -> bytes:
    """The bytes of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())
