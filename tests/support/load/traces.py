"""Small traces, as they are drawn from a log.

Enters: rows in order of time. Leaves: a Parquet file. Never: reads a log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.spec.load.trace_file import METADATA, VERSION, trace_schema


@dataclass(frozen=True)
class Row:
    """One row of a trace."""

    session: int
    at_us: int
    kind: str
    statement: str | None = None
    parameters: Sequence[str | None] | None = None
    name: str | None = None
    sqlstate: str | None = None
    database: str = "shop"
    duration_us: int | None = None
    user: str = "app"
    application: str = "shop"


def write_trace(path: Path, rows: Sequence[Row], *, row_group: int = 100_000) -> Path:
    """Writes the rows in row groups of this size; returns the path."""
    statements = sum(row.statement is not None for row in rows)
    about = {"version": VERSION, "started": "2026-01-01T00:00:00Z", "statements": statements}
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=trace_schema())
    about["seconds"] = rows[-1].at_us / 1e6
    pq.write_table(
        table.replace_schema_metadata({METADATA: json.dumps(about)}),
        path,
        row_group_size=row_group,
    )
    return path
