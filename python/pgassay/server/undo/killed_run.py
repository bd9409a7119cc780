"""Refuses a server or host that a killed run has changed, and names the command that puts it back.

Enters: a server's identity or address, or a host. Leaves: nothing, or an error of one line.
Never: undoes anything, or calls a run killed that is alive.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pgassay.errors import ConnectionRefused
from pgassay.refusals.refusal import NotConnected, TargetRefused
from pgassay.server.change import Change, ServerChange
from pgassay.server.connection.session import first_address, identity, server_row
from pgassay.server.hosts.host import Host, host_identity
from pgassay.server.hosts.local import lock_run
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.undo.change_record import all_recorded, record_file, recorded
from pgassay.server.undo.marking import refuse_marked
from pgassay.server.undo.run_lock import refuse_other_runs
from pgassay.server.undo.undo_sql import undo_text


def refuse_used(session: Connection, parameters: ConnectionParameters, dsn: str) -> None:
    """Raises TargetError where another run is using a server, or a killed one has changed it."""
    refuse_other_runs(session)
    refuse_left_by_killed_runs(session, parameters, dsn)


def refuse_left_by_killed_runs(
    session: Connection, parameters: ConnectionParameters, dsn: str
) -> None:
    """Raises TargetError where a run has changed this server and not put it back, as the mark on
    the server or this user's own record says; asked while no run is alive."""
    server, data = identity(session) or parameters.label, server_row(session).data_directory
    known = {one.run for one in recorded(server) if _has_journal(one)}
    refuse_marked(session, dsn, known)
    refuse_killed_run(server, data, parameters.address)


def refuse_killed_run(server: str, data: str | None, reached: str, own: Path | None = None) -> None:
    """Raises TargetError where a run has changed this server and not put it back.

    `data` is its data directory, where that is known, `reached` its address, `own` the directory of
    the run that asks, where it goes on.
    """
    changes = [one for one in recorded(server) if not _is_elsewhere(one, data, reached)]
    if changes:
        raise _reason(server, changes, own=own)


def refuse_killed_run_on(host: Host) -> None:
    """Raises TargetError where a killed run has changed knobs of a host; those of a live
    run pass."""
    server = host_identity(host)
    killed = [
        one
        for one in recorded(server)
        if not (_has_journal(one) and _is_alive(Path(one.journal).parent))
    ]
    if killed:
        raise _reason(server, killed, host.label)


def explained(refused: ConnectionRefused, dsn: str, own: Path | None = None) -> ConnectionRefused:
    """The error of a server that does not answer; with the run that may have left it down."""
    address = first_address(dsn)
    for server, changes in all_recorded():
        here = [one for one in changes if one.reached == address != ""]
        if here:
            run = _reason(server, here, own=own)
            sqlstate = refused.sqlstate
            return NotConnected("not-connected-by-a-run", sqlstate=sqlstate, why=refused, run=run)
    return refused


def _is_elsewhere(change: Change, data: str | None, reached: str) -> bool:
    """Whether a change was made on a copy of this server, which has the same system identifier."""
    there = change.data if isinstance(change, ServerChange) else ""
    return bool(there and data) and there != data and change.reached != reached


def _reason(
    server: str, changes: Sequence[Change], what: str = "this server", own: Path | None = None
) -> TargetRefused:
    last = changes[-1]
    folder = Path(last.journal).parent
    values = {"folder": folder, "what": what, "run": shlex.quote(str(folder))}
    if not _has_journal(last):
        values["undo"] = "; ".join(dict.fromkeys(undo_text(one) for one in reversed(changes)))
        values["record"] = record_file(server)
        return TargetRefused("killed-run-without-journal", **values)
    if own is not None and own.resolve() == folder.resolve():
        return TargetRefused("killed-run-is-this-one", **values)
    return TargetRefused("killed-run-is-alive" if _is_alive(folder) else "killed-run", **values)


def _has_journal(change: Change) -> bool:
    """Whether the run's own journal is still there, and not that of a later run at its path."""
    with suppress(OSError):
        text = Path(change.journal).read_text("utf-8", errors="replace") if change.journal else ""
        return change.run != "" and change.run in text
    return False


def _is_alive(folder: Path) -> bool:
    with suppress(OSError):
        lock = lock_run(folder)
        if lock is None:
            return True
        lock.release()
    return False
