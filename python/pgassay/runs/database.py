"""SQL over stored runs.

Enters: a query, paths of runs. Leaves: the answer, a batch of rows at a time. Never: lets SQL open
a file or a connection, or change anything: DuckDB is given tables and locked before the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from pgassay.errors import PgassayError
from pgassay.refusals.refusal import SetupRefused
from pgassay.runs.catalogue import TABLES, RunTable, Told, meant_by

try:
    import duckdb
except ImportError:  # the extra `sql`, a tenth of what an installation takes
    raise SetupRefused("no-sql-extra") from None

_READS = {"SELECT", "EXPLAIN", "MULTI"}
"""Kinds of statement that only read; the last is what DuckDB makes of a PIVOT."""
_LOCK: dict[str, str | bool | int | float | list[str]] = {
    "temp_directory": "",  # else what does not fit into memory goes into the present folder
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # no Python variable is a table
}
_BATCH_ROWS = 10_000


class RunsDatabase:
    """The tables of `catalogue.py` as views of an in-memory DuckDB."""

    def __init__(self, paths: Sequence[Path], unreadable: Told) -> None:
        """`unreadable` is told once of every run that is left out."""
        self._paths, self._tell = list(paths), unreadable

    @contextmanager
    def answer(self, query: str) -> Iterator[pa.RecordBatchReader]:
        """Answers a query, of which runs that cannot be read are no part."""
        with _clear_errors(), locked_connection() as locked:
            _refuse_writes(locked, query)
            yield self._begun(locked, query)

    def _begun(self, locked: duckdb.DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
        tables = self._register(locked, query)
        try:
            return _read(locked, query)
        except (duckdb.Error, pa.ArrowException, OSError):
            # Files of samples are read only now: was it one of them?
            if not self._drop_damaged(tables):
                raise
        self._register(locked, query)
        return _read(locked, query)

    def _register(self, database: duckdb.DuckDBPyConnection, query: str) -> list[RunTable]:
        """Every table; only those that the query may mean have rows."""
        meant = meant_by(query)
        for table in TABLES.values():
            rows = table.of_readable(self._paths, self._unreadable) if table in meant else None
            database.register(table.name, table.schema.empty_table() if rows is None else rows)
        return meant

    def _drop_damaged(self, tables: Sequence[RunTable]) -> bool:
        """Leave out the runs whose samples cannot be read; whether there are any."""
        before = len(self._paths)
        for path in list(self._paths):
            for table in tables:
                try:
                    table.check(path)
                except PgassayError as error:
                    self._unreadable(path, str(error))
                    break
        return len(self._paths) < before

    def _unreadable(self, path: Path, why: str) -> None:
        if path in self._paths:
            self._paths = [one for one in self._paths if one != path]
            self._tell(path, why)


def locked_connection() -> duckdb.DuckDBPyConnection:
    """Opens a database in memory that opens no file and no connection, whatever the SQL."""
    database = duckdb.connect(":memory:", config=_LOCK)
    database.execute("SET TimeZone = 'UTC'")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


def _refuse_writes(database: duckdb.DuckDBPyConnection, query: str) -> None:
    kinds = [statement.type.name for statement in database.extract_statements(query)]
    if not kinds:
        raise SetupRefused("query-empty")
    for kind in kinds:
        if kind not in _READS:
            raise SetupRefused("query-writes", kind)


def _read(database: duckdb.DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
    """Reads the first batch too, so that errors of files come here."""
    reader: pa.RecordBatchReader = database.sql(query).to_arrow_reader(_BATCH_ROWS)
    first = next(iter(reader), None)
    batches: Any = iter([first] if first is not None else [])
    return pa.RecordBatchReader.from_batches(reader.schema, _chained(batches, reader))


def _chained(first: Iterator[pa.RecordBatch], rest: pa.RecordBatchReader) -> Iterator[Any]:
    yield from first
    yield from rest


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # of the program that reads the answer
        raise
    except duckdb.OutOfMemoryException as error:
        raise SetupRefused("answer-too-large", why=_line(error)) from None
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise SetupRefused("query-failed", why=_line(error)) from None


def _line(error: Exception) -> str:
    """DuckDB's message without the query, which the user has before their eyes."""
    return " ".join(str(error).partition("\n\nLINE ")[0].split())
