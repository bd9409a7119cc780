"""Trials of an existing server on copies of its data directory; the user's own is kept aside.

Enters: a service that may be restarted, its host, a journal. Leaves: the server on a copy under the
same path, made anew for every trial; after `give_back` the very directory that it had, untouched.
Never: writes into the user's directory, removes a directory without our mark in it, or renames one
under a running server.

Beside the data directory D lie, under names of this run: `-found` (the user's own), `-frozen…` (one
for each variant of the schema too), `-work` (a copy not yet whole), `-spent…` (one being removed)
and, after a boot of the host, `-kept` (one that others may have written to). D is only ever changed
by renames.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target import auto_conf
from pgassay.target.copy_room import COPIES, refuse_without_room
from pgassay.target.data_place import DataPlace, hold, refuse_unmovable
from pgassay.target.host import Host, HostLock
from pgassay.target.host_memory import boot_of
from pgassay.target.postmaster import StartError
from pgassay.target.protocol import Change
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.service import Service
from pgassay.target.snapshots import AS_BUILT


def give_back(place: DataPlace, boot: str = "") -> bool:
    """The user's directory at its path and the server up on it, from wherever a run has stopped.

    True where another lay there before. May be called at any time, also twice: what is on disk says
    what is left to do. `boot` is the host's when the copy was made: after another one the copy is
    kept, for it was not the run that started the server on it.
    """
    found = place.beside("found")
    # A copy that is not whole may be what has filled the disk; one that cannot be removed now must
    # not keep the server from its own, and is seen to below.
    with suppress(TargetError):
        place.remove(place.beside("work"))
    moved = place.has(found)
    if moved:
        # Before the server is stopped: somebody may have mended it, and works on what lies there.
        place.refuse_another()
        place.service.stop()
        if boot and boot != boot_of(place.host) and place.is_ours:
            place.move(place.data, place.kept)
        place.set_aside()
        place.move(found, place.data)
        place.run("sync", "-f", place.data)
    if place.is_ours:
        raise RestoreFailed(
            f"{place.data} of {place.host.label} is a copy, and there is no {found}; look where the"
            " server's own data directory is before anything is removed"
        )
    try:
        place.service.start()
    except StartError:
        # It may be our copies that leave it no room.
        with suppress(TargetError):
            _remove_copies(place)
        place.service.start()
    try:
        _remove_copies(place)
    except TargetError as error:
        raise LeftOver(str(error)) from None
    for path in place.left_spent():
        raise LeftOver(f"{path} of {place.host.label} is not a copy that this run made")
    return moved


def kept_note(place: DataPlace) -> str:
    """A sentence on the copy that was kept; empty where none was."""
    if not place.has(place.kept):
        return ""
    return (
        f"{place.host.label} has booted since the run, and the server was started on the copy then:"
        f" what others wrote to it since is kept in {place.kept}; look there, then remove it"
    )


def _remove_copies(place: DataPlace) -> None:
    place.remove(place.beside("work"))
    for frozen in place.frozen():
        place.remove(frozen)
    place.remove_spent()
    place.remove_probes()


class LeftOver(TargetError):
    """The server is on its own directory, and copies of ours still lie beside it."""


class DataCopies:
    """The copies of one run."""

    def __init__(
        self,
        host: Host,
        service: Service,
        journal: RememberedJournal,
        variants: int = 0,
        refuse_restart: Callable[[], None] = lambda: None,
    ) -> None:
        """`variants` are the frozen copies to come beside that of the data as they were built;
        `refuse_restart` looks whether a start would bring somebody's changes into force."""
        self._host, self._service, self._journal = host, service, journal
        self._refuse_restart = refuse_restart
        self._copies = COPIES + variants
        self._place: DataPlace | None = None
        self._change: Change | None = None
        self._lock: HostLock | None = None
        self._frozen: dict[str, Path] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._frozen

    @property
    def left(self) -> list[str]:
        """What a person would do before the server is as it was."""
        return [] if self._change is None else [self._change.undo]

    def refuse(self, place: DataPlace | None = None) -> None:
        """TargetError where there cannot be as many copies as are to come."""
        place = place or DataPlace(self._host, self._service)
        refuse_unmovable(place)
        refuse_without_room(place, self._copies)

    def begin(self, server: str, reached: str) -> None:
        """Put the server on a copy; `server` is its identity, `reached` its address."""
        place = DataPlace(self._host, self._service)
        self.refuse(place)
        self._lock = hold(self._host, place.data.parent)
        found, data = place.beside("found"), place.data
        change = Change(
            id=uuid.uuid4().hex,
            what=f"data directory {data}",
            do=f"mv {data} {found}",
            undo=f"where {found} is (else nothing was moved): stop the server,"
            f" mv {data} {place.beside('spent')}, mv {found} {data}, start it",
            server=server,
            copy=str(place.prefix),
            boot=boot_of(self._host),
            **(self._service.lies(reached) | {"data": str(data)}),
        )
        self._place, self._change = place, change
        self._journal.record(change)
        self._service.stop()
        place.copy(data)
        place.move(data, found)
        place.move(place.beside("work"), data)
        self._service.start()

    def freeze(self, name: str = AS_BUILT) -> None:
        """What the server has now is what a trial on that variant begins with."""
        place = self._begun()
        # By number, for names of variants are the user's and no file names.
        frozen = place.beside(f"frozen{len(self._frozen) if name else ''}")
        refuse_without_room(place, copies=1)
        self._refuse_restart()
        self._service.stop()
        place.remove(frozen)
        place.copy(place.data)
        place.move(place.beside("work"), frozen)
        self._frozen[name] = frozen
        self._service.start()

    def thaw(self, name: str = AS_BUILT) -> None:
        """The data as they were frozen under that name, and the settings that are in force now."""
        place = self._begun()
        self._refuse_restart()
        settings = self._service.auto_conf()
        self._service.stop()
        place.set_aside()
        place.remove_spent()
        place.copy(self._frozen[name])
        place.move(place.beside("work"), place.data)
        place.write(place.data / auto_conf.NAME, settings)
        self._service.start()

    def give_back(self) -> tuple[frozenset[str], str]:
        """The user's own directory again; RestoreFailed where that fails.

        Returns the changes, by their ids, that went with the copies, and what of the copies is left
        for a person to look at.
        """
        if self._change is None or self._place is None:
            return frozenset(), ""
        place, left = self._place, ""
        try:
            give_back(place, self._change.boot)
        except LeftOver as error:
            left = f"{error}; look there, and remove {place.prefix}-* by hand"
        except TargetError as error:
            raise RestoreFailed(
                f"the server is not on its own data directory ({error}); by hand:"
                f" {self._change.undo}"
            ) from error
        gone = self._journal.undone_since(self._change.id)
        self._place = self._change = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        return gone, left or kept_note(place)

    def _begun(self) -> DataPlace:
        if self._place is None:
            raise TargetError("no copy of the data directory was made")
        if self._lock is not None and not self._lock.held():
            # Over ssh it went with the connection.
            self._lock.release()
            self._lock = hold(self._host, self._place.data.parent)
        return self._place
