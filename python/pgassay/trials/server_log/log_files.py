"""The files of a log directory, as the server's own functions show them.

Enters: a way to sessions of the server. Leaves: names with sizes, and bytes.
Never: reads a file outside the directories in which the server lets this role read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

import psycopg

from pgassay.errors import TargetError
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement


class LogUnreadable(Exception):
    """Raised where a log that could be read no longer can be."""


@dataclass(frozen=True, slots=True)
class FileState:
    """Size and time of a log file, as a listing shows them."""

    size: int
    modified_ns: int


class OpenFiles(Protocol):
    """The directory of a log, open for one reading."""

    def listing(self) -> Mapping[str, FileState]:
        """Returns the files of the directory."""

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Reads at most `length` bytes of a file; fewer at the end of the file."""

    def current(self) -> str | None:
        """Returns the file that is written to now, where the server says so."""


class LogFiles(Protocol):
    """A way to the files of a log; `opened` raises LogUnreadable."""

    def opened(self) -> AbstractContextManager[OpenFiles]: ...


class FilesOverSql:
    """Log files on the server's host, read through a session that is opened for each reading."""

    def __init__(self, connect: Callable[[], Connection], directory: str, form: str) -> None:
        self._connect, self._directory, self._form = connect, directory, form

    @contextmanager
    def opened(self) -> Iterator[OpenFiles]:
        try:
            with self._connect() as session:
                yield _OverSession(session, self._directory, self._form)
        except (psycopg.Error, TargetError) as error:
            raise LogUnreadable(str(error).splitlines()[0]) from None


class _OverSession:
    def __init__(self, session: Connection, directory: str, form: str) -> None:
        self._session, self._directory, self._form = session, directory, form

    def current(self) -> str | None:
        return current_file(self._session, self._form)

    def listing(self) -> Mapping[str, FileState]:
        rows = self._session.execute(statement("log/list"), prepare=False).fetchall()
        return {name: FileState(size, modified) for name, size, modified in rows}

    def read(self, name: str, offset: int, length: int) -> bytes:
        path = f"{self._directory}/{name}" if self._directory else name
        row = self._session.execute(
            statement("log/read"), (path, offset, length), prepare=False
        ).fetchone()
        return row[0] if row and row[0] else b""


def current_file(session: Connection, form: str) -> str | None:
    """Returns the name, without its folder, of the file that one form of the log is written to."""
    row = session.execute(statement("log/current_file"), (form,), prepare=False).fetchone()
    return None if row is None or row[0] is None else row[0].rpartition("/")[2]
