"""What is changed on an existing server now, for whoever comes after a run that was killed.

Enters: changes about to be made. Leaves: one file for each identity of a server, synced before the
change, that the next run from this machine and user finds by it; and of several servers that have
the same one, only what was changed on its own.
Never: knows of runs from elsewhere; those are told by the mark of the schema (schema.py).

The journal of a run has the same, but the next run does not know that run's directory.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from pathlib import Path

import platformdirs

from pgassay.durable import clear_aside, make_directory, write_whole
from pgassay.errors import SetupError
from pgassay.target.account import name_of
from pgassay.target.host import NoLocks
from pgassay.target.local_host import HERE, LocalLock
from pgassay.target.protocol import Change, Journal
from pgassay.target.seat import Seat, is_elsewhere, seat_of

ALONE_LIMIT_S = 30.0
"""A file is read and written in milliseconds, on a busy disk in seconds."""
_PAUSE_S = 0.01
_FIELDS = tuple(field.name for field in fields(Change))


class RememberedJournal:
    """A journal whose open changes are also in the memory of one server."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._server, self._seat = "", Seat()
        self._open: list[str] = []
        """Changes that this run has made and not undone, oldest first."""

    def speaks_of(self, server: str, seat: Seat = Seat()) -> None:  # noqa: B008 (frozen)
        """From here on changes are of this server: its identity, or else where it was reached; and
        which of those that have the same."""
        self._server, self._seat = server, seat

    @property
    def place(self) -> str:
        """Where the run's own journal is."""
        return self._journal.place

    @property
    def run(self) -> str:
        """The name drawn for it."""
        return self._journal.run

    def record(self, change: Change) -> None:
        """On disk in both places when this returns."""
        self._open.append(change.id)
        change = replace(change, seat=self._seat.kept())
        kept = replace(change, journal=self.place, run=self.run)
        with _alone():
            remember(self._server, [*remembered(self._server), kept])
        self._journal.record(change)

    def undone(self, change_id: str) -> None:
        """Forgotten, and said to the journal."""
        forget(self._server, change_id)
        self._journal.undone(change_id)
        self._open = [one for one in self._open if one != change_id]

    def undone_since(self, change_id: str) -> frozenset[str]:
        """A change of this run and all that came after it; it is the last, for we may be killed
        here."""
        since = self._open[self._open.index(change_id) :]
        for one in reversed(since):
            self.undone(one)
        return frozenset(since)

    def undone_at(self, place: str, change_id: str) -> None:
        """Said to the journal of another run."""
        self._journal.undone_at(place, change_id)

    def settled(self, server: str, change: Change) -> None:
        """What a run that is gone had changed is undone: forgotten, and said to its journal."""
        forget(server, change.id)
        self.undone_at(change.journal, change.id)


def remembered(server: str, here: Seat = Seat()) -> list[Change]:  # noqa: B008 (frozen)
    """What a run that is gone has left changed, oldest first; but for what was changed on another
    server of that identity than the one that is `here`."""
    return [change for change in _read(server) if not is_elsewhere(change, here)]


def elsewhere(server: str, here: Seat) -> list[list[Change]]:
    """The rest of it, server by server."""
    return _by_server([change for change in _read(server) if is_elsewhere(change, here)])


def _read(server: str) -> list[Change]:
    path = memory_file(server)
    try:
        if path.stat().st_uid != os.geteuid():
            return []
        kept = json.loads(path.read_text("utf-8"))
        return [
            Change(**{name: one[name] for name in _FIELDS if name in one})
            for one in kept["changes"]
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SetupError(
            f"{path} cannot be read ({error}), so what a killed run may have left on the server is"
            " not known; look at the server by hand, then remove that file"
        ) from None


def all_remembered() -> list[tuple[str, list[Change]]]:
    """The same of every server, with its identity, which several may have; what cannot be read is
    passed over."""
    found: list[tuple[str, list[Change]]] = []
    for path in sorted(memory_file("0").parent.glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError, SetupError):
            server = str(json.loads(path.read_text("utf-8"))["server"])
            found += [(server, changes) for changes in _by_server(remembered(server))]
    return found


def _by_server(changes: Sequence[Change]) -> list[list[Change]]:
    """Changes put together that may be of one server; their order stays."""
    found: list[list[Change]] = []
    for change in changes:
        for others in found:
            if not any(is_elsewhere(change, seat_of(one)) for one in others):
                others.append(change)
                break
        else:
            found.append([change])
    return found


def remember(server: str, changes: Sequence[Change]) -> None:
    """Keep what is changed now; nothing changed leaves no file, nor one half written."""
    path = memory_file(server)
    try:
        if not changes:
            path.unlink(missing_ok=True)
            clear_aside(path)
            return
        make_directory(path.parent, parents=True, exist_ok=True)
        kept = {"server": server, "changes": [asdict(one) for one in changes]}
        write_whole(path, json.dumps(kept).encode())
    except OSError as error:
        raise _unwritable(path, error) from None


@contextmanager
def _alone() -> Iterator[None]:
    """No other run changes these files meanwhile: what one reads and writes back has the other's in
    it. Two runs that come first to a server at once are not kept apart by its own lock yet."""
    lock = None
    try:
        lock = _locked(memory_file("0").parent)
        yield
    finally:
        if lock is not None:
            lock.release()


def _locked(folder: Path) -> LocalLock:
    began = time.monotonic()
    try:
        make_directory(folder, parents=True, exist_ok=True)
        while (lock := HERE.lock(folder)) is None:
            if time.monotonic() - began > ALONE_LIMIT_S:
                raise SetupError(
                    f"{folder} has been held for {ALONE_LIMIT_S:g} s by another pgassay run, which"
                    " seems to hang; end it"
                )
            time.sleep(_PAUSE_S)
    except NoLocks as error:
        raise SetupError(f"{error}; name one with XDG_STATE_HOME") from None
    except OSError as error:
        raise _unwritable(folder, error) from None
    return lock


def _unwritable(path: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{path} cannot be written ({error.strerror}), so a killed run could not be undone by the"
        " next; make its folder writable, or name another with XDG_STATE_HOME"
    )


def forget(server: str, change_id: str) -> None:
    """A change is undone; where the disk does not take it, it is undone once more: no harm."""
    with suppress(SetupError):
        if all(one.id != change_id for one in remembered(server)):
            return
        with _alone():
            remember(server, [one for one in remembered(server) if one.id != change_id])


def forget_never_made(run: str, made: Collection[str]) -> None:
    """Forget what a dead run was about to note in its journal, of that drawn name, and never did:
    the memory is written first, the change is made last. `made` are the changes still open there.

    By name and not by path: what another run has left open is no less open when its folder was
    removed and a later run has put its own there.
    """
    for server, changes in all_remembered():
        for change in changes:
            if change.run == run != "" and change.id not in made:
                forget(server, change.id)


def this_machine() -> str:
    """User and host, as others read them in the mark of a schema: a memory is one user's."""
    return f"{name_of(os.geteuid())}@{platform.node() or '?'}"


def forgetting(server: str, change: Change) -> str:
    """What a person does, once all that is remembered of a change's server is seen to by hand;
    `server` is the name of its memory."""
    file = memory_file(server)
    if not elsewhere(server, seat_of(change)):
        return f"remove {file}"
    return f"take what is said of {seat_of(change)} out of {file}, which another server is in too"


def memory_file(server: str) -> Path:
    """Where the memory of a server is."""
    # An identity is a number; where it is not known, the place may have any characters.
    name = server if server.isdigit() else hashlib.sha256(server.encode()).hexdigest()[:16]
    return platformdirs.user_state_path("pgassay") / "servers" / f"{name}.json"
