"""The columns of the samplers: of waits.parquet, postgres.parquet and host.parquet.

Enters: nothing. Leaves: pyarrow schemas. Never: computes.
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
"""One row per busy session and tick; a row without pid is a tick that found nobody busy. Starts of
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
