"""The data directory of an existing server, and what a run puts beside it.

Enters: a service, its host. Leaves: directories copied, renamed, removed, each as the server's own
account. Never: removes a directory without our mark in it, or renames one under a running server.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target.account import last_line
from pgassay.target.block_devices import read_mounts
from pgassay.target.host import Finished, Host, HostLock, text_of
from pgassay.target.located import running_in
from pgassay.target.service import Service

MARK = "pgassay.copy"
"""A file in every copy, which holds the run's own prefix of names."""
COPY_LIMIT_S = 4 * 3600.0
CLONE = 'cp --reflink=always -- "$1" "$2"; status=$?; rm -f -- "$2"; exit $status'
"""Shell: whether the file $1 can be had as $2 by sharing its blocks; $2 is gone again."""
_PROBE = "probe"
_REMOVALS, _PAUSE_S = 20, 0.5
_SPENT = 9


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

    @property
    def kept(self) -> Path:
        """Where a copy goes that others may have written to; it is theirs to remove."""
        return self.beside("kept")

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
        done = self.try_run(*words)
        if done.returncode:
            raise TargetError(f"{self.host.label}: {last_line(done)}")
        return done

    def try_run(self, *words: str | Path) -> Finished:
        """The same, whatever became of it."""
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
            if not self.try_run(*words).returncode:
                self.try_run("rm", "-rf", "--", directory)
            if not self.has(directory):
                return
            time.sleep(_PAUSE_S)
        raise TargetError(f"{directory} of {self.host.label} could not be removed")

    def copy(self, source: Path) -> None:
        """A marked copy, whole on disk, under the name for work."""
        work = self.beside("work")
        self.remove(work)
        self.run("cp", "-a", "--reflink=auto", "-T", "--", source, work)
        self.write(work / MARK, self.prefix.name)
        self.run("sync", "-f", work)

    def write(self, path: Path, text: str) -> None:
        """A file's whole content, in a directory that is ours."""
        try:
            self.host.replace(path, text, user=self.account)
        except OSError as error:
            raise TargetError(f"{path} of {self.host.label}: {error.strerror}") from None

    def refuse_another(self) -> None:
        """RestoreFailed where what lies at the server's path is no copy of ours."""
        if self.has(self.data) and not self.is_ours:
            raise RestoreFailed(
                f"{self.data} of {self.host.label} is not the copy that this run made; it is left"
                f" as it is, and the server's own is in {self.beside('found')}"
            )

    def set_aside(self) -> None:
        """What lies at the server's path makes room, if it is a copy of ours."""
        self.refuse_another()
        if not self.has(self.data):
            return
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

    def frozen(self) -> list[Path]:
        """The copies that trials begin with, as they lie there."""
        return self._lying("frozen")

    def left_spent(self) -> list[Path]:
        """The copies that are done with, as they lie there."""
        return self._lying("spent")

    def clones(self) -> bool:
        """Whether the file system shares blocks between copies; by trying."""
        # One command, which comes to its end also where we are killed meanwhile.
        tried = self.try_run("sh", "-c", CLONE, "sh", self.data / "PG_VERSION", self.beside(_PROBE))
        return tried.returncode == 0

    def remove_probes(self) -> None:
        """What a host that went down in `clones` has left, of whichever run: each has a name of its
        own, and before a run has a journal."""
        begin = f"{self.data.name}.pgassay-"
        for path in self._beside():
            if path.name.startswith(begin) and path.name.endswith(f"-{_PROBE}"):
                self.run("rm", "-f", "--", path)

    def _lying(self, what: str) -> list[Path]:
        begin = self.beside(what).name
        return [path for path in self._beside() if path.name.startswith(begin)]

    def _beside(self) -> list[Path]:
        folder = self.data.parent
        try:
            return [folder / name for name in self.host.names(folder)]
        except OSError as error:
            raise TargetError(f"{folder} of {self.host.label}: {error.strerror}") from None

    def remove_spent(self) -> None:
        """The copies that are done with."""
        for path in self.left_spent():
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


def refuse_unmovable(place: DataPlace) -> None:
    """TargetError where the data directory cannot be copied whole and put back. Changes nothing."""
    host, data = place.host, place.data
    folder, where = data.parent, f"{data} of {host.label}"
    mounted = _mounted_in(place)
    if data in mounted or host.facts(data).device != host.facts(folder).device:
        raise TargetError(f"{where} is a mount point, which cannot be renamed; mount its parent")
    if host.run(["test", "-w", folder], user=place.account).returncode:
        raise TargetError(
            f"{place.account} may not write to {folder} of {host.label}, where the copies go;"
            f" chown {place.account} {folder}"
        )
    if mounted:
        raise TargetError(
            f"{mounted[0]} of {host.label} is a mount point: copies would have what it holds"
            " (pg_wal, a tablespace) on another disk than the server; reset.level = 'template'"
            " copies databases"
        )
    link = place.run("find", data, "-type", "l", "-print", "-quit").stdout.strip()
    if link:
        raise TargetError(
            f"{link} of {host.label} is a link: a copy would share what it leads to (pg_wal, a"
            " tablespace); reset.level = 'template' copies databases"
        )


def _mounted_in(place: DataPlace) -> list[Path]:
    """The data directory and what lies below it, where something is mounted there, as we see it
    and as the server does, whose unit may have mounts of its own."""
    pids = ("self", place.service.server.postmaster)
    mounts = [mount for pid in pids for mount in read_mounts(place.host, pid)]
    return sorted({one.point for one in mounts if one.point.is_relative_to(place.data)})
