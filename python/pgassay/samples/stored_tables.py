"""Parquet files of a run, read back.

Enters: a file, the name of its table. Leaves: the table, whole or a column at a time; or one line
that says what is wrong with the file. Never: reads what nobody asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pgassay.errors import RunDirectoryError
from pgassay.samples.schemas import ADDED_LATER, TABLES


def read_table(path: Path, name: str) -> pa.Table:
    """All of it."""
    if name in ADDED_LATER and not path.exists():
        return TABLES[name].empty_table()
    with _clear_errors(path):
        _refuse_lacking(path, name)
        return pq.read_table(path, schema=TABLES[name])


class ByColumn:
    """A table of which only the column that is looked at is in memory: a day of counters has
    hundreds of megabytes."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        with _clear_errors(path):
            _refuse_lacking(path, name)
            self.num_rows: int = pq.read_metadata(path).num_rows

    def __getitem__(self, column: str) -> pa.ChunkedArray:
        with _clear_errors(self._path):
            schema = TABLES[self._name]
            return pq.read_table(self._path, columns=[column], schema=schema)[column]


def _refuse_lacking(path: Path, name: str) -> None:
    needed = {field.name for field in TABLES[name] if not field.nullable}
    missing = needed - set(pq.read_schema(path).names)
    if missing:
        raise RunDirectoryError(f"{path}: column {min(missing)!r} is missing")


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RunDirectoryError(f"{path}: cannot be read: {reason}") from None
