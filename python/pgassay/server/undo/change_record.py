"""The change record: what runs have changed on existing servers and hosts and not yet put back.

Enters: changes about to be made. Leaves: one file for each system identifier, or name and boot of
a host, synced before the change is made, by which the next run of this user on this machine learns
of a killed run.
Never: knows of runs on other machines; the mark on the server names those (undo/marking.py).

The journal of a run says the same, but the next run does not know where that run's directory is.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import platformdirs

from pgassay.durable import make_directory, remove_partial_files, write_atomically
from pgassay.errors import SetupError
from pgassay.refusals.refusal import SetupRefused
from pgassay.server.change import Change, RestartChange, change_of, stored
from pgassay.server.hosts.account import name_of
from pgassay.server.hosts.host import NoLocks
from pgassay.server.hosts.local import HERE, LocalLock
from pgassay.server.protocol import Journal

LOCK_LIMIT_S = 30.0
"""A file is read and written in milliseconds, on a busy disk in seconds."""
_PAUSE_S = 0.01


class JournalAround:
    """What a journal with a second place for its open changes has of the run's own journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    @property
    def place(self) -> str:
        """The file of the run's own journal."""
        return self._journal.place

    @property
    def run(self) -> str:
        """The name drawn for that journal."""
        return self._journal.run

    @property
    def machine(self) -> str:
        """The user and machine that can undo what the journal holds."""
        return self._journal.machine


class RecordedJournal(JournalAround):
    """A journal whose open changes are also in the change record of one server."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._server = self._reached = ""

    def begin(self, server: str, reached: str = "") -> None:
        """Records changes from now on as those of this server: its identity, and its address."""
        self._server, self._reached = server, reached

    def record(self, change: Change) -> None:
        """Writes a change to the record and to the journal; both are on disk when it returns."""
        change = replace(change, reached=self._reached)
        kept = replace(change, journal=self.place, run=self.run)
        with _locked():
            write_changes(self._server, [*recorded(self._server), kept])
        self._journal.record(change)

    def undone(self, change_id: str) -> None:
        """Removes a change from the record, and notes that in the journal."""
        forget(self._server, change_id)
        self._journal.undone(change_id)


def recorded(server: str) -> list[Change]:
    """The changes of one server, oldest first."""
    path = record_file(server)
    try:
        if path.stat().st_uid != os.geteuid():
            return []
        kept = json.loads(path.read_text("utf-8"))
        return [change_of(one) for one in kept["changes"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SetupRefused("record-unreadable", path=path, why=error) from None


def all_recorded() -> list[tuple[str, list[Change]]]:
    """Returns every server's identity with its recorded changes; files that cannot be read are
    passed over."""
    found: list[tuple[str, list[Change]]] = []
    for path in sorted(record_file("0").parent.glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError, SetupError):
            server = str(json.loads(path.read_text("utf-8"))["server"])
            found.append((server, recorded(server)))
    return found


def recorded_of(run: str) -> set[Change]:
    """The changes of one run, by the name drawn for its journal, as that journal has them."""
    return {
        replace(change, journal="", run="")
        for _, changes in all_recorded()
        for change in changes
        if change.run == run != ""
    }


def write_changes(server: str, changes: Sequence[Change]) -> None:
    """The record of a server with these changes; without any, no file is left."""
    path = record_file(server)
    try:
        if not changes:
            path.unlink(missing_ok=True)
            remove_partial_files(path)
            return
        make_directory(path.parent, parents=True, exist_ok=True)
        kept = {"server": server, "changes": [stored(one) for one in changes]}
        write_atomically(path, json.dumps(kept).encode())
    except OSError as error:
        raise _unwritable(path, error) from None


def forget(server: str, change_id: str) -> None:
    """Remove a change that is undone. Where the disk does not take that, the change stays: undoing
    it twice does no harm."""
    with suppress(SetupError):
        if all(one.id != change_id for one in recorded(server)):
            return
        with _locked():
            write_changes(server, [one for one in recorded(server) if one.id != change_id])


def forget_never_made(run: str, made: Collection[str]) -> None:
    """Remove what a killed run recorded here and never noted in its journal, of that drawn name:
    the record is written first, the change is made last. `made` are the changes open there."""
    for server, changes in all_recorded():
        for change in changes:
            if change.run == run != "" and change.id not in made:
                forget(server, change.id)


def forget_equal(server: str, run: str, is_undone: Callable[[Change], bool]) -> None:
    """Remove from the record of a server what was undone there without the journal of the run; with
    the last change the note that the run may have left its server down."""
    made = [one for one in recorded(server) if one.run == run != ""]
    left = [one for one in made if not is_undone(one)]
    if all(isinstance(one, RestartChange) for one in left):
        left = []
    for change in made:
        if change not in left:
            forget(server, change.id)


def this_machine() -> str:
    """Returns user and host, for the mark on a server: a change record belongs to one user."""
    return f"{name_of(os.geteuid())}@{platform.node() or '?'}"


def record_file(server: str) -> Path:
    """The file of a server's record."""
    # An identity is a number; an address, where that is not known, may have any characters.
    name = server if server.isdigit() else hashlib.sha256(server.encode()).hexdigest()[:16]
    return platformdirs.user_state_path("pgassay") / "servers" / f"{name}.json"


@contextmanager
def _locked() -> Iterator[None]:
    """Keep other runs from changing these files."""
    lock = None
    try:
        lock = _lock(record_file("0").parent)
        yield
    finally:
        if lock is not None:
            lock.release()


def _lock(folder: Path) -> LocalLock:
    began = time.monotonic()
    try:
        make_directory(folder, parents=True, exist_ok=True)
        while (lock := HERE.lock(folder)) is None:
            if time.monotonic() - began > LOCK_LIMIT_S:
                raise SetupRefused("record-locked", folder=folder, seconds=LOCK_LIMIT_S)
            time.sleep(_PAUSE_S)
    except NoLocks as error:
        raise SetupRefused("record-without-locks", why=error) from None
    except OSError as error:
        raise _unwritable(folder, error) from None
    return lock


def _unwritable(path: Path, error: OSError) -> SetupRefused:
    return SetupRefused("record-not-writable", path=path, why=error.strerror)
