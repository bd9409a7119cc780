"""The files of a log directory, as the server's own functions show them or its host has them.

Enters: a way to sessions of the server; a host, here or over ssh. Leaves: names with sizes, and
bytes. Never: reads a file outside the directories in which the server lets this role read, a link,
a pipe, or a file of another account than the server's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psycopg

from pgassay.errors import TargetError
from pgassay.server.existing.requirements import is_local
from pgassay.server.hosts.account import last_line
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.local import HERE
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


# Names never pass a command line, which has a limit. Neither a link nor what it leads to is a file.
_LISTING = (
    'cd -- "$1" || exit 1; '
    r"""LC_ALL=C find . -maxdepth 1 -type f -printf '%U %s %T@ %f\n'"""
)


@dataclass(frozen=True)
class BackendProcess:
    """A backend of the server, as its host's /proc shows it."""

    host: Host
    pid: int
    owner: int
    """The user id that it runs under."""

    def standard_error(self) -> str | None:
        """Returns the file that the server's messages go to; None where it is none, or this account
        may not see it."""
        try:
            return str(self.host.resolve(Path(f"/proc/{self.pid}/fd/2")))
        except OSError:
            return None

    def own_file(self, reported: str | None, directory: str | None = None) -> Path | None:
        """Returns the path of a file that the server reports, if the file belongs to the server;
        the name may be relative to its data directory."""
        try:
            if not reported or not reported.isprintable():
                return None
            if not reported.startswith("/"):
                beside = directory or str(self.host.resolve(Path(f"/proc/{self.pid}/cwd")))
                reported = f"{beside}/{reported}"
            path = self.host.resolve(Path(reported))
            found = self.host.facts(path)
            if not found.is_file or found.uid != self.owner:
                return None
            self.host.piece(path, 0, 1)
        except OSError:  # absent, or out of reach
            return None
        return path

    def described(self, path: Path) -> str:
        """Returns words for a file of the server and the way to it."""
        return f"{path} of {self.host.label}, over ssh" if self.host.name else str(path)

    def files(self, path: Path, current: Callable[[], str | None]) -> HostFiles:
        """Returns access to the files of the log's directory."""
        return HostFiles(self.host, path.parent, self.owner, current)


def backend_process(
    settings: Mapping[str, Any], address: str, machine: Host | None
) -> BackendProcess | None:
    """Returns the backend of a session on the server's host; None where neither this machine nor
    `machine` is that host."""
    pid = settings["pid"]
    hosts = [machine] if machine is not None and machine.name else []
    for host in [*hosts, *([HERE] if is_local(address, pid) else [])]:
        with suppress(OSError):
            return BackendProcess(host, pid, host.facts(Path(f"/proc/{pid}")).uid)
    return None


class HostFiles:
    """Lists files with the host's `find`, and reads them where this account may."""

    def __init__(
        self, host: Host, directory: Path, owner: int, current: Callable[[], str | None]
    ) -> None:
        self._host, self._directory = host, directory
        self._owner, self._current = owner, current

    @contextmanager
    def opened(self) -> Iterator[OpenFiles]:
        try:
            yield self
        except TargetError as error:
            raise LogUnreadable(str(error)) from None

    def current(self) -> str | None:
        return self._current()

    def listing(self) -> Mapping[str, FileState]:
        done = self._host.run(["sh", "-c", _LISTING, "sh", self._directory])
        # A file that is removed while find lists it makes find fail; the others are listed.
        if done.returncode and not done.stdout:
            raise LogUnreadable(f"{self._directory}: {last_line(done)}")
        found = {}
        for line in done.stdout.splitlines():
            words = line.split(" ", 3)
            if len(words) != 4 or not words[0].isdigit():
                continue  # the rest of a name with a line's end in it
            owner, size, modified, name = words
            if int(owner) == self._owner:
                seconds, _, rest = modified.partition(".")
                found[name] = FileState(
                    int(size), int(seconds) * 10**9 + int(rest[:9].ljust(9, "0"))
                )
        return found

    def read(self, name: str, offset: int, length: int) -> bytes:
        path = self._directory / name
        try:
            return self._host.piece(path, offset, length)
        except OSError as error:
            raise LogUnreadable(f"{path} of {self._host.label}: {error.strerror}") from None
