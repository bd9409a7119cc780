"""Columns as tables under a schema, and tables as Parquet.

Enters: columns as a load or sampler gives them. Leaves: pyarrow tables, bytes of a Parquet file.
Never: writes a file.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.trials.record import Columns

_RISING = ("latency_ns", "response_ns")
"""Lists in ascending order."""
_COMPRESSION = 9


def as_table(columns: Columns, schema: pa.Schema) -> pa.Table:
    """Columns as one of the tables of `schemas.py`; nullable ones that are missing are null: a
    program of the user's measures less than the engine."""
    rows = len(next(iter(columns.values()), []))
    absent: dict[str, list[Any]] = {field.name: [None] * rows for field in schema if field.nullable}
    return pa.Table.from_pydict({**absent, **columns}, schema=schema)


def parquet(table: pa.Table) -> bytes:
    """Small: histograms are most of a run, and their buckets lie in order."""
    sink = pa.BufferOutputStream()
    paths = {field.name: _leaf(field) for field in table.schema}
    rising = [paths[name] for name in _RISING if name in paths]
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=_COMPRESSION,
        use_dictionary=[path for path in paths.values() if path not in rising] if rising else True,
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED") or None,
    )
    return bytes(sink.getvalue())


def _leaf(field: pa.Field) -> str:
    """The path of a column's values inside a Parquet file."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
