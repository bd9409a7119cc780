"""What a trace is, and what is known of one before it is replayed.

Enters: a Parquet file that was drawn from a server's log. Leaves: its schema; `TraceFacts`: its
hash, length, sessions and statements, what it lacks; the last row of every session. Never: keeps a
statement or a value.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgassay.refusals.refusal import Refusal

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

KEY = "load.replay"
METADATA = b"pgassay.trace"
"""The key of a JSON object in the file's metadata: `version`, and the counts of `LACKS`."""
VERSION = 1
KINDS = ("connect", "simple", "extended", "prepared", "disconnect")
"""What a row does; the native module has their places here as numbers."""
_COLUMNS = {
    "session": "int32",
    "at_us": "int64",
    "kind": "string",
    "statement": "string",
    "parameters": "list<string>",
    "name": "string",
    "duration_us": "int64",
    "sqlstate": "string",
    "database": "string",
    "user": "string",
    "application": "string",
}
"""In the order of `at_us`: session (dense), at_us (since the first row), what the row does, and
parameters as texts, in which NULL is kept. A dictionary of texts is read as texts."""
_REPEATED = ("kind", "statement", "database", "user", "application")
"""Texts that are written as a dictionary."""
_OF_FACTS = ("session", "at_us", "kind", "sqlstate", "database")
OF_ROWS = ("session", "at_us", "kind", "statement", "parameters", "name", "sqlstate")
"""The columns that are replayed."""
LACKS = ("left_out", "values_cut", "fetched")


@dataclass(frozen=True)
class TraceFacts:
    """What a run keeps of a trace: enough to know it again, nothing of what it says."""

    sha256: str
    seconds: float
    """From its first row to its last."""
    statements: int
    sessions: int
    at_once: int
    """The most sessions that were open at one time."""
    failed: int
    """Statements that failed at the source."""
    left_out: int = field(default=0, compare=False)
    """Statements of the log that are not in it: passwords, COPY from or to the client, texts that
    are not UTF-8."""
    values_cut: int = field(default=0, compare=False)
    """Statements of it whose values are cut in the log, or not UTF-8."""
    fetched: int = field(default=0, compare=False)
    """Further parts of results that were fetched in parts, which are not in it."""

    @property
    def rate(self) -> float:
        """Statements per second at the source."""
        return self.statements / self.seconds


@dataclass(frozen=True)
class Trace:
    """A trace that can be replayed."""

    path: Path
    facts: TraceFacts
    last_rows: NDArray[np.int64] = field(repr=False)
    """The number of each session's last row."""


def read_trace(path: Path) -> Trace:
    """Reads the columns without texts and values once.

    Raises Refusal for a file that is no trace, and for a trace of several databases: all sessions
    of a replay use the target's.
    """
    import numpy as np

    statements, failed, row, last_us = 0, 0, 0, 0
    first_rows, last_rows = np.zeros(0, np.int64), np.zeros(0, np.int64)
    databases: set[str] = set()
    for table in row_groups(path, _OF_FACTS):
        sessions = table["session"].to_numpy()
        if table.num_rows == 0:
            continue
        at_us = table["at_us"].to_numpy()
        if sessions.min() < 0 or at_us[0] < last_us or (np.diff(at_us) < 0).any():
            raise Refusal("trace-damaged", KEY, path=path)
        last_us = int(at_us[-1])
        is_statement = kinds_of(table) % (len(KINDS) - 1) != 0
        statements += int(is_statement.sum())
        failed += table.num_rows - table["sqlstate"].null_count
        databases |= {one for one in table["database"].unique().to_pylist() if one is not None}
        size = max(len(last_rows), int(sessions.max()) + 1)
        first_rows = _grown(first_rows, size, 2**62)
        last_rows = _grown(last_rows, size, -1)
        rows = np.arange(row, row + table.num_rows)
        np.minimum.at(first_rows, sessions, rows)
        np.maximum.at(last_rows, sessions, rows)
        row += table.num_rows
    if len(databases) > 1:
        raise Refusal("trace-of-databases", KEY, count=len(databases))
    if not statements or last_us <= 0:
        raise Refusal("trace-empty", KEY, path=path)
    took_part = last_rows >= 0
    facts = TraceFacts(
        sha256=_hash(path),
        seconds=last_us / 1e6,
        statements=statements,
        sessions=int(took_part.sum()),
        at_once=_most_at_once(first_rows[took_part], last_rows[took_part]),
        failed=failed,
        **lacks_of(path),
    )
    return Trace(path, facts, last_rows)


def trace_schema() -> pa.Schema:
    """Returns the columns of a trace as they are written."""
    import pyarrow as pa

    types = {"int32": pa.int32(), "int64": pa.int64(), "string": pa.string()}
    types["list<string>"] = pa.list_(pa.string())
    repeated = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        {name: repeated if name in _REPEATED else types[kind] for name, kind in _COLUMNS.items()}
    )


def row_groups(path: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Iterates over the row groups of a trace, with these columns. Raises Refusal for a file that
    is no trace of this version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            _refuse_other(path, file.schema_arrow)
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, list(columns))
    except FileNotFoundError:
        raise Refusal("trace-missing", KEY, path=path) from None
    except (pa.ArrowException, OSError) as error:
        raise Refusal("trace-unreadable", KEY, path=path, why=type(error).__name__) from None


def kinds_of(table: pa.Table) -> NDArray[np.uint8]:
    """Returns the number of each row's kind by `KINDS`. Raises Refusal for another word."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(table["kind"].cast(pa.string()), pa.array(KINDS))
    if found.null_count:
        raise Refusal("trace-kind", KEY)
    kinds: NDArray[np.uint8] = found.to_numpy().astype(np.uint8)
    return kinds


def _refuse_other(path: Path, schema: pa.Schema) -> None:
    import pyarrow as pa

    if _about(schema).get("version") != VERSION:
        raise Refusal("trace-of-no-version", KEY, path=path, version=VERSION)
    for name in dict.fromkeys((*_OF_FACTS, *OF_ROWS)):
        wanted = _COLUMNS[name]
        kind = schema.field(name).type if name in schema.names else None
        if kind is not None and pa.types.is_dictionary(kind):
            kind = kind.value_type
        written = str(kind).replace("item: ", "").replace("element: ", "")
        if written != wanted:
            raise Refusal("trace-column", KEY, path=path, name=name, type=wanted)


def _about(schema: pa.Schema) -> dict[str, Any]:
    try:
        found = json.loads((schema.metadata or {}).get(METADATA, b"{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def lacks_of(path: Path) -> dict[str, int]:
    """Returns what a trace lacks, as `TraceFacts` has it; nothing where it does not say."""
    import pyarrow.parquet as pq

    about = _about(pq.read_schema(path))
    return {name: found for name in LACKS if isinstance(found := about.get(name), int)}


def _grown(values: NDArray[np.int64], size: int, fill: int) -> NDArray[np.int64]:
    import numpy as np

    return np.concatenate([values, np.full(size - len(values), fill, np.int64)])


def _most_at_once(first: NDArray[np.int64], last: NDArray[np.int64]) -> int:
    """A session is open from its first row to its last."""
    import numpy as np

    opened, closed = np.sort(first), np.sort(last)
    before = np.searchsorted(closed, opened, side="left")
    return int((np.arange(1, len(opened) + 1) - before).max())


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
