"""From a server's log to a trace: every statement in order, with its own parameters.

Enters: files of a log. Leaves: a Parquet file that a replay reads, whole or not at all, for its
owner only. Never: has a statement that gives a password to the server, or holds more of a log in
memory than some pieces: what is not yet in order waits in a temporary file beside the trace.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pgassay._core import LogReader
from pgassay.draw.log.files import Log
from pgassay.draw.log.options import LogOptions
from pgassay.draw.log.ordering import Ordered
from pgassay.refusals.refusal import SetupRefused
from pgassay.spec.load.trace_file import KINDS, METADATA, VERSION, trace_schema
from pgassay.spec.secrets.redaction import sql_secret_line

_ROWS = 100_000
"""Of a group of rows."""
_NAMES = ("name", "sqlstate", "database", "user", "application")
_LOOKED_AT = r"(?i)password|postgres(ql)?://"
"""What `sql_secret_line` looks at closely."""
_SESSION_ENDS = ("connect", "disconnect")
_SCHEMA = trace_schema()
_PLAIN = pa.schema(
    [
        pa.field(one.name, pa.string() if pa.types.is_dictionary(one.type) else one.type)
        for one in _SCHEMA
    ]
)


def write_trace(files: Sequence[Path], path: Path, options: LogOptions) -> None:
    """Writes the trace of a log's files to `path`; raises SetupRefused, OSError."""
    log = Log(files, options)
    reader = log.reader(trace=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".trace-") as folder:
        waiting = Path(folder) / "waiting.arrow"
        with Ordered(waiting, _PLAIN) as ordered:
            secret = 0
            for _ in log.feed(reader):
                if reader.waiting() >= _ROWS:
                    secret += _add(ordered, _rows(reader))
            secret += _add(ordered, _rows(reader))
            summary = json.loads(reader.summary())
            summary["left_out"] += secret
            if not summary["statements"]:
                raise SetupRefused("log-without-statements", "--log", entries=summary["entries"])
            written = Path(folder) / "trace.parquet"
            written.touch(0o600)
            _write(ordered, written, summary)
            with written.open("rb") as whole:
                os.fsync(whole.fileno())
            written.replace(path)


def _write(ordered: Ordered, path: Path, summary: dict[str, Any]) -> None:
    first_us = ordered.first
    began = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=first_us)
    about = {
        "version": VERSION,
        # In the log's own zone, which is not known.
        "started": began.replace(tzinfo=None).isoformat(),
        "seconds": (ordered.last - first_us) / 1e6,
        "statements": summary["statements"] - summary["left_out"],
        "left_out": summary["left_out"],
        "values_cut": summary["cut"],
        "fetched": sum(one["calls"] for one in summary["lost"]),
        "sessions": summary["sessions"],
    }
    schema = _SCHEMA.with_metadata({METADATA: json.dumps(about).encode()})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in ordered.tables(_ROWS):
            at = table.schema.get_field_index("at_us")
            since = pc.subtract(table["at_us"], first_us)
            whole = table.set_column(at, "at_us", since).cast(_SCHEMA)
            writer.write_table(whole.replace_schema_metadata(schema.metadata), _ROWS)


def _add(ordered: Ordered, rows: pa.RecordBatch) -> int:
    """Adds the rows but for statements that give a password to the server; returns how many these
    are."""
    texts = rows.column("statement")
    may_be = pc.match_substring_regex(texts, _LOOKED_AT)
    found = set(texts.filter(may_be).unique().to_pylist())
    secret = [one for one in found if sql_secret_line(one) is not None]
    kept = pc.invert(pc.is_in(texts, pa.array(secret, pa.string())))
    clean = rows.filter(kept)
    ordered.add(clean)
    return int(rows.num_rows - clean.num_rows)


def _rows(reader: LogReader) -> pa.RecordBatch:
    """The rows that wait in the reader, with their texts."""
    rows = reader.rows()
    names = pa.array(reader.names(), pa.string())
    kinds = pa.array(KINDS, pa.string())
    numbers = {
        key: np.frombuffer(rows[key], np.int64)
        for key in ("session", "at_us", "counts", "duration_us", *_NAMES)
    }
    kind = kinds.take(pa.array(np.frombuffer(rows["kind"], np.uint8)))
    texts = _texts(rows["statement_offsets"], rows["statement"])
    columns: dict[str, pa.Array] = {
        "session": pa.array(numbers["session"].astype(np.int32)),
        "at_us": pa.array(numbers["at_us"]),
        "kind": kind,
        "statement": pc.if_else(pc.is_in(kind, pa.array(_SESSION_ENDS)), None, texts),
        "parameters": _lists(rows, numbers["counts"]),
        "duration_us": _known(numbers["duration_us"]),
    }
    columns |= {key: names.take(_known(numbers[key])) for key in _NAMES}
    return pa.RecordBatch.from_arrays([columns[name] for name in _PLAIN.names], schema=_PLAIN)


def _known(numbers: np.ndarray[Any, np.dtype[np.int64]]) -> pa.Array:
    return pa.array(numbers, mask=numbers < 0)


def _lists(rows: dict[str, bytes], counts: np.ndarray[Any, np.dtype[np.int64]]) -> pa.Array:
    known = np.frombuffer(rows["values_known"], np.uint8)
    texts = _texts(rows["value_offsets"], rows["values"])
    values = pc.if_else(pa.array(known.astype(bool)), texts, None)
    ends = np.concatenate([[0], np.cumsum(np.maximum(counts, 0))])
    offsets = pa.array(ends.astype(np.int32), mask=np.append(counts < 0, False))
    return pa.ListArray.from_arrays(offsets, values)


def _texts(offsets: bytes, texts: bytes) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(texts)]
    whole = pa.Array.from_buffers(pa.large_string(), len(offsets) // 8 - 1, buffers)
    return whole.cast(pa.string())
