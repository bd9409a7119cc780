"""The data directory of a server that a dead run had put on a copy.

Enters: open changes, the way to the server's host. Leaves: the server on its own directory, and the
changes that are still to undo. Never: removes a directory that is not marked as that run's copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target.access import Access
from pgassay.target.data_copy import DataPlace, LeftOver, give_back
from pgassay.target.host import Host
from pgassay.target.located import Located
from pgassay.target.protocol import Change, Journal
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.service import Service
from pgassay.target.session import resolve


def give_back_copied(
    dsn: str, changes: Sequence[Change], journal: Journal, access: Access, host: Host
) -> list[Change]:
    """Before all else: what was changed on a copy goes with it."""
    for change in changes:
        if not change.copy:
            continue
        try:
            place = _place(dsn, change, access, host)
            with place.held():
                give_back(place)
        except LeftOver as error:
            raise RestoreFailed(
                f"the server is on its own data directory again, and {error}; look there, and"
                f" remove {change.copy}-* by hand"
            ) from error
        except TargetError as error:
            raise RestoreFailed(
                f"{change.what} is not as it was found ({error}); by hand: {change.undo}"
            ) from error
        remembering = RememberedJournal(journal)
        remembering.speaks_of(change.server)
        remembering.undone(change.id)
    return [change for change in changes if not change.copy]


def _place(dsn: str, change: Change, access: Access, host: Host) -> DataPlace:
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
    log = Path(change.log) if change.log else None
    server = Located(data, account, 0, log, collects=not change.log)
    service = Service(lambda: resolve(dsn), host, access.control, server)
    return DataPlace(host, service, prefix)
