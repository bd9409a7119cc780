"""The data directory of a server that a dead run had put on a copy.

Enters: open changes, the way to the server's host. Leaves: the server on its own directory, and the
changes that are still to undo. Never: removes a directory that is not marked as that run's copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target.access import Access
from pgassay.target.data_copy import LeftOver, give_back, kept_note
from pgassay.target.data_place import DataPlace
from pgassay.target.host import Host
from pgassay.target.located import as_left, told_of_environment
from pgassay.target.protocol import Change, Journal
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.service import Service


@dataclass(frozen=True)
class GivenBack:
    """A directory that is the server's own again."""

    moved: bool
    """Whether the server was on a copy."""
    kept: str
    """A sentence where that copy was kept."""
    missing: str = ""
    """One where the server may miss something of its environment."""


def give_back_copied(
    dsn: str,
    changes: Sequence[Change],
    journal: Journal,
    access: Access,
    host: Host,
    notes: list[str],
) -> list[Change]:
    """Before all else; what was changed on a copy goes with it. `notes` is given a sentence where
    the copy was kept."""
    copied = newest_copy(changes)
    if copied is None:
        return list(changes)
    note = give_back_left(dsn, copied, access, host)
    notes += [note] if note else []
    before, gone = with_the_copy(copied, changes)
    remembering = RememberedJournal(journal)
    remembering.speaks_of(copied.server)
    for change in reversed(gone):
        remembering.undone(change.id)
    return before


def newest_copy(changes: Sequence[Change]) -> Change | None:
    """The change that put a server on copies, where there is one; a run makes it once."""
    return next((change for change in reversed(changes) if change.copy), None)


def with_the_copy(copied: Change, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Changes, oldest first: those made before the copy, and those that go with it."""
    first = list(changes).index(copied)
    return list(changes[:first]), list(changes[first:])


def give_back_left(dsn: str, change: Change, access: Access, host: Host) -> str:
    """The directory that a dead run has kept aside, at its path, and the server up on it; a
    sentence where its copy was kept, or where something of the server's environment was not."""
    try:
        place = place_of(dsn, change, access, host)
    except TargetError as error:
        raise _not_given_back(change, error) from error
    with place.held():
        given = give_back_held(change, place)
    return "; ".join(told for told in (given.kept, given.missing) if told)


def give_back_held(change: Change, place: DataPlace) -> GivenBack:
    """The same, where the caller holds the lock of these directories."""
    try:
        was_down = place.service.is_down()
        moved = give_back(place, change.boot)
        missing = told_of_environment(change) if was_down else ""
        return GivenBack(moved, kept_note(place), missing)
    except LeftOver as error:
        raise RestoreFailed(
            f"the server is on its own data directory again, and {error}; look there, and"
            f" remove {change.copy}-* by hand"
        ) from error
    except TargetError as error:
        raise _not_given_back(change, error) from error


def _not_given_back(change: Change, error: TargetError) -> RestoreFailed:
    return RestoreFailed(f"{change.what} is not as it was found ({error}); by hand: {change.undo}")


def place_of(dsn: str, change: Change, access: Access, host: Host) -> DataPlace:
    """The directories of a dead run, and the service of the server they belong to."""
    if access.control is None:
        raise TargetError("the spec names no service, cluster or bin to restart it by")
    prefix, data = Path(change.copy), Path(change.data)
    account = ""
    for directory in (prefix.with_name(f"{prefix.name}-found"), data):
        try:
            account = host.facts(directory).account
            break
        except OSError as error:
            seen = error.strerror
    if not account:
        raise TargetError(f"{data} of {host.label} cannot be seen ({seen})")
    service = Service(dsn, host, access.control, as_left(data, account, change))
    return DataPlace(host, service, prefix)
