"""Trials of an existing server on copies of its data directory; the user's own is kept aside.

Enters: a service that may be restarted, its host, a journal. Leaves: the server on a copy under the
same path, made anew for every trial; after `give_back` the very directory that it had, untouched.
Never: writes into the user's directory, removes a directory without our mark in it, or renames one
under a running server.

Beside the data directory D lie, under names of this run: `-found` (the user's own), `-frozen`,
`-work` (a copy not yet whole) and `-spent…` (one being removed). D is only ever changed by renames.
"""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target.account import last_line
from pgassay.target.host import Finished, Host, HostLock, text_of
from pgassay.target.located import running_in
from pgassay.target.protocol import Change, Journal
from pgassay.target.service import Service

MARK = "pgassay.copy"
"""A file in every copy, which holds the run's own prefix of names."""
COPY_LIMIT_S = 4 * 3600.0
_REMOVALS, _PAUSE_S = 20, 0.5
_SPENT = 9
_SPARE = 1.05
_COPIES = 2
"""Beside the user's directory: the frozen one, and the one the server runs on."""


class DataPlace:
    """A server's data directory and what a run puts beside it; `prefix` begins every name."""

    def __init__(self, host: Host, service: Service, prefix: Path | None = None) -> None:
        self.host, self.service = host, service
        self.account = service.server.account
        if prefix is None:
            self.data = host.resolve(service.server.data)
            self.prefix = self.data.with_name(f"{self.data.name}.pgassay-{secrets.token_hex(4)}")
        else:
            self.prefix = prefix
            self.data = prefix.with_name(prefix.name.rpartition(".pgassay-")[0])

    def beside(self, what: str) -> Path:
        return self.prefix.with_name(f"{self.prefix.name}-{what}")

    def has(self, path: Path) -> bool:
        """Whether it is there; what cannot be seen is an error, never taken for absent."""
        try:
            self.host.facts(path)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise TargetError(
                f"{path} of {self.host.label} cannot be seen ({error.strerror})"
            ) from None
        return True

    @property
    def is_ours(self) -> bool:
        """Whether what lies at the server's path is a copy of this run."""
        return self.marks(self.data)

    def run(self, *words: str | Path) -> Finished:
        """As the server's account: what it may not do, root does not do in its directories."""
        done = self._run(words)
        if done.returncode:
            raise TargetError(f"{self.host.label}: {last_line(done)}")
        return done

    def _run(self, words: Sequence[str | Path]) -> Finished:
        # From /: where we are that account may not be able to go, and find wants to come back.
        at_root = ["env", "-C", "/", *words]
        return self.host.run(at_root, user=self.account, limit_s=COPY_LIMIT_S)

    def move(self, source: Path, destination: Path) -> None:
        """A directory gets another name; no server runs on it."""
        if running_in(self.host, source) is not None:
            raise TargetError(f"{source} of {self.host.label} has a running server; not renamed")
        self.run("mv", "-T", "--no-clobber", "--", source, destination)
        if self.has(source) or not self.has(destination):
            raise TargetError(f"{source} of {self.host.label} was not renamed to {destination}")

    def marks(self, directory: Path) -> bool:
        """Whether a directory is a copy of this run."""
        return text_of(self.host, directory / MARK) == self.prefix.name

    def remove(self, directory: Path) -> None:
        """One with our mark, which goes last; a copy that is not whole has none, and a name that
        nothing else ever has. A dead run's cp may still be writing into it."""
        if not self.has(directory):
            return
        if directory != self.beside("work") and not self.marks(directory):
            raise TargetError(
                f"{directory} of {self.host.label} is not a copy that this run made; left as it is"
            )
        for _ in range(_REMOVALS):
            words: list[str | Path] = ["find", directory, "-mindepth", "1", "-maxdepth", "1"]
            words += ["!", "-name", MARK, "-exec", "rm", "-rf", "--", "{}", "+"]
            if not self._run(words).returncode:
                self._run(["rm", "-rf", "--", directory])
            if not self.has(directory):
                return
            time.sleep(_PAUSE_S)
        raise TargetError(f"{directory} of {self.host.label} could not be removed")

    def copy(self, source: Path) -> None:
        """A marked copy, whole on disk, under the name for work."""
        work = self.beside("work")
        self.remove(work)
        self.run("cp", "-a", "--reflink=auto", "-T", "--", source, work)
        self.host.replace(work / MARK, self.prefix.name, user=self.account)
        self.run("sync", "-f", work)

    def set_aside(self) -> None:
        """What lies at the server's path makes room, if it is a copy of ours."""
        if not self.has(self.data):
            return
        if not self.is_ours:
            raise RestoreFailed(
                f"{self.data} of {self.host.label} is not the copy that this run made; it is left"
                f" as it is, and the server's own is in {self.beside('found')}"
            )
        # One that could not be removed must not keep the server from its own.
        free = next((path for path in self.spent() if not self.has(path)), None)
        if free is None:
            raise TargetError(
                f"{_SPENT} copies that could not be removed lie beside {self.data} of"
                f" {self.host.label}; remove {self.beside('spent')}* by hand"
            )
        self.move(self.data, free)

    def spent(self) -> Iterator[Path]:
        """Names of copies that are done with, the first of which is nearly always free."""
        return (self.beside(f"spent{number or ''}") for number in range(_SPENT))

    def remove_spent(self) -> None:
        """The copies that are done with."""
        for path in self.spent():
            if self.marks(path):
                self.remove(path)

    @contextmanager
    def held(self) -> Iterator[None]:
        """No other run touches these directories meanwhile."""
        lock = hold(self.host, self.data.parent)
        try:
            yield
        finally:
            lock.release()


def hold(host: Host, folder: Path) -> HostLock:
    """The folder's lock, which dies with us; TargetError where another run has it."""
    try:
        lock = host.lock(folder)
    except OSError as error:
        raise TargetError(f"{folder} of {host.label}: {error.strerror}") from None
    if lock is None:
        raise TargetError(f"another pgassay run works on copies in {folder} of {host.label}")
    return lock


def give_back(place: DataPlace) -> None:
    """The user's directory at its path and the server up on it, from wherever a run has stopped.

    May be called at any time, also twice: what is on disk says what is left to do.
    """
    found = place.beside("found")
    # A copy that is not whole may be what has filled the disk; one that cannot be removed now must
    # not keep the server from its own, and is seen to below.
    with suppress(TargetError):
        place.remove(place.beside("work"))
    if place.has(found):
        place.service.stop()
        place.set_aside()
        place.move(found, place.data)
        place.run("sync", "-f", place.data)
    if place.is_ours:
        raise RestoreFailed(
            f"{place.data} of {place.host.label} is a copy, and there is no {found}; look where the"
            " server's own data directory is before anything is removed"
        )
    place.service.start()
    try:
        place.remove(place.beside("work"))
        place.remove(place.beside("frozen"))
        place.remove_spent()
    except TargetError as error:
        raise LeftOver(str(error)) from None
    for path in place.spent():
        if place.has(path):
            raise LeftOver(f"{path} of {place.host.label} is not a copy that this run made")


class LeftOver(TargetError):
    """The server is on its own directory, and copies of ours still lie beside it."""


class DataCopies:
    """The copies of one run."""

    def __init__(self, host: Host, service: Service, journal: Journal) -> None:
        self._host, self._service, self._journal = host, service, journal
        self._place: DataPlace | None = None
        self._change: Change | None = None
        self._lock: HostLock | None = None

    @property
    def left(self) -> list[str]:
        """What a person would do before the server is as it was."""
        return [] if self._change is None else [self._change.undo]

    def begin(self, server: str) -> None:
        """Put the server on a copy; `server` is its identity."""
        place = DataPlace(self._host, self._service)
        refuse_unmovable(place)
        refuse_without_room(place)
        self._lock = hold(self._host, place.data.parent)
        found, data = place.beside("found"), place.data
        change = Change(
            id=uuid.uuid4().hex,
            what=f"data directory {data}",
            do=f"mv {data} {found}",
            undo=f"where {found} is (else nothing was moved): stop the server,"
            f" mv {data} {place.beside('spent')}, mv {found} {data}, start it",
            server=server,
            host=self._host.name,
            data=str(data),
            log=str(self._service.server.output or ""),
            copy=str(place.prefix),
        )
        self._place, self._change = place, change
        self._journal.record(change)
        self._service.stop()
        place.copy(data)
        place.move(data, found)
        place.move(place.beside("work"), data)
        self._service.start()

    def freeze(self) -> None:
        """What the server has now is what every trial begins with."""
        place = self._begun()
        refuse_without_room(place, copies=1)
        self._service.stop()
        place.remove(place.beside("frozen"))
        place.copy(place.data)
        place.move(place.beside("work"), place.beside("frozen"))
        self._service.start()

    def thaw(self) -> None:
        """The data as they were frozen, under the settings that are in force now."""
        place = self._begun()
        settings = self._service.auto_conf()
        self._service.stop()
        place.set_aside()
        place.remove_spent()
        place.copy(place.beside("frozen"))
        place.move(place.beside("work"), place.data)
        self._host.replace(
            place.data / "postgresql.auto.conf", settings, user=self._service.server.account
        )
        self._service.start()

    def give_back(self) -> None:
        """The user's own directory again; RestoreFailed where that fails."""
        if self._change is None or self._place is None:
            return
        try:
            give_back(self._place)
        except LeftOver as error:
            raise RestoreFailed(
                f"the server is on its own data directory again, and {error}; look there, and"
                f" remove {self._place.prefix}-* by hand"
            ) from error
        except TargetError as error:
            raise RestoreFailed(
                f"the server is not on its own data directory ({error}); by hand:"
                f" {self._change.undo}"
            ) from error
        self._journal.undone(self._change.id)
        self._place = self._change = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _begun(self) -> DataPlace:
        if self._place is None:
            raise TargetError("no copy of the data directory was made")
        return self._place


def refuse_unmovable(place: DataPlace) -> None:
    """TargetError where the data directory cannot be copied whole and put back. Changes nothing."""
    host, data = place.host, place.data
    folder, where = data.parent, f"{data} of {host.label}"
    if host.facts(data).device != host.facts(folder).device:
        raise TargetError(f"{where} is a mount point, which cannot be renamed; mount its parent")
    if host.run(["test", "-w", folder], user=place.account).returncode:
        raise TargetError(
            f"{place.account} may not write to {folder} of {host.label}, where the copies go;"
            f" chown {place.account} {folder}"
        )
    link = place.run("find", data, "-type", "l", "-print", "-quit").stdout.strip()
    if link:
        raise TargetError(
            f"{link} of {host.label} is a link: a copy would share what it leads to (pg_wal, a"
            " tablespace); reset.level = 'template' copies databases"
        )


def refuse_without_room(place: DataPlace, copies: int = _COPIES) -> None:
    """TargetError where the file system takes no so many copies of the data as they are now."""
    host, data = place.host, place.data
    folder = data.parent
    size = int(place.run("du", "-s", "--block-size=1", data).stdout.split()[0])
    free = int(place.run("df", "-B1", "--output=avail", folder).stdout.split()[-1])
    if copies * _SPARE * size > free and not _clones(place):
        raise TargetError(
            f"{folder} of {host.label} has {free / 2**30:.1f} GB free; copies of the data beside it"
            f" ({copies}) take {copies * size / 2**30:.1f} GB"
        )


def _clones(place: DataPlace) -> bool:
    """Whether the file system shares blocks between copies."""
    probe = place.beside("probe")
    try:
        place.run("cp", "--reflink=always", "--", place.data / "PG_VERSION", probe)
    except TargetError:
        return False
    finally:
        place.run("rm", "-f", "--", probe)
    return True
