"""Undoing one by one what a run that died has left on an existing server.

Enters: the changes, a session or where to open one. Leaves: each undone, with a sentence for those
that somebody has changed since. Never: overwrites what is not ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psycopg

from pgassay.errors import TargetError
from pgassay.target.access import Access
from pgassay.target.dead_run import folders_of, is_alive, recovering, stays_dead
from pgassay.target.host import Host
from pgassay.target.host_knobs import sweep_host
from pgassay.target.own_lines import Whose, line_of
from pgassay.target.protocol import Change, Connection, ConnectionParameters
from pgassay.target.recover_service import Restart
from pgassay.target.schema import DROP, refuse_foreign
from pgassay.target.schema_variants import by_hand, is_undo_of_a_variant, take_back
from pgassay.target.seat import Seat, seat_of
from pgassay.target.server_memory import RememberedJournal, elsewhere, forgetting, remembered
from pgassay.target.service_control import START_LOG
from pgassay.target.session import connect, one_line
from pgassay.target.setting_scope import scope_of
from pgassay.target.setting_statements import RELOAD, reload
from pgassay.target.statements import statement
from pgassay.target.waiting import OthersWait


def undo_dead_run(
    parameters: ConnectionParameters,
    server: str,
    here: Seat,
    machine: Host,
    journal: RememberedJournal,
) -> list[str]:
    """All that this machine remembers of a server and of its host's knobs; a sentence for what is
    left as it is. What may be in force until a restart stays remembered: `restart_for_dead_run`.
    The server is on its own data directory: `left_on_copy.reach`; that it was started is seen to
    by `left_started`.

    The caller holds the server's lock, which a run that lives lets go of in every restart.
    """
    sweep_host(machine)
    known = remembered(server, here)
    # A run that has only just started its server is alive too, and has no lock there yet.
    with stays_dead(known, journal.place):
        left = [change for change in known if not change.started]
        return _undone(parameters, server, left, machine, journal)


def told_of_others(server: str, here: Seat) -> list[str]:
    """Sentences on what a dead run has left on other servers with this one's identifier."""
    return [
        f"a run that was killed has changed another server with this one's system identifier"
        f" ({seat_of(changes[-1])}): left as it is; undone by {recovering(folders_of(changes))},"
        " with --moved-to DSN if that is this server, moved since"
        for changes in elsewhere(server, here)
        if not is_alive(changes)
    ]


def _undone(
    parameters: ConnectionParameters,
    server: str,
    left: list[Change],
    machine: Host,
    journal: RememberedJournal,
) -> list[str]:
    notes: list[str] = []
    settled: set[str] = set()
    theirs: set[str] = set()
    while left:
        try:
            note = _undo_where_it_was_made(parameters, left, settled)
        except (TargetError, psycopg.Error) as error:
            raise TargetError(_told(left, one_line(error), server)) from error
        change = left.pop()
        if note is not None:
            notes.append(note)
            theirs.add(change.setting)
        if not change.data or change.is_restart or change.setting in theirs:
            remove_start_logs([change], machine)
            journal.settled(server, change)
    return notes


def restart_for_dead_run(
    parameters: ConnectionParameters,
    server: str,
    here: Seat,
    access: Access,
    machine: Host,
    journal: RememberedJournal,
) -> list[str]:
    """Restart where what was undone is in force until then; a sentence where that may not be,
    which every run says until somebody has restarted it.

    The caller holds the server's lock, which a restart takes along.
    """
    owed = [change for change in remembered(server, here) if not change.started]
    if not owed:
        return []
    with stays_dead(owed, journal.place):
        return _restarted(parameters, server, owed, access, machine, journal)


def _restarted(
    parameters: ConnectionParameters,
    server: str,
    owed: Sequence[Change],
    access: Access,
    machine: Host,
    journal: RememberedJournal,
) -> list[str]:
    remove_start_logs(owed, machine)
    restart = Restart(access, machine)
    for change in owed:
        restart.wait_for(change)
    with connect(parameters) as session:
        try:
            notes = restart.carry_out(session, parameters)
        except OthersWait as error:
            names = ", ".join(sorted({change.setting for change in restart.waiting}))
            notes = [f"{names}: put back, and in force after the next restart: {error}"]
    for change in owed:
        if change not in restart.waiting:
            journal.settled(server, change)
    return notes


def remove_start_logs(changes: Sequence[Change], machine: Host) -> None:
    """What a run that was killed at a start has left among the server's files on this host."""
    for data in {one.data for one in changes if one.data and one.host == machine.name}:
        with suppress(OSError):
            machine.remove(Path(data) / START_LOG)


def undo_newest(session: Connection, left: Sequence[Change], settled: set[str]) -> str | None:
    """Undo the last of the changes left; a sentence where somebody's later one stands in the way.

    `settled` are the settings that have been seen to already. A change may have been recorded and
    never made, or taken back to an older one of ours: each of those values is ours.
    """
    change = left[-1]
    if change.is_restart:
        return None  # it is up, or nobody had come here
    if not change.setting:
        if change.undo == DROP.as_string(session) and not refuse_foreign(session):
            return None
        if is_undo_of_a_variant(session, change.undo):
            take_back(session, change.undo)
        else:
            session.execute(change.undo.encode(), prepare=False)
        return None
    scope = scope_of(change.scope)
    place = f"{change.setting} {change.scope}"
    if place in settled:
        return None  # a later change of ours to the same setting has been undone already
    settled.add(place)
    ours = [one.value for one in left if (one.setting, one.scope) == (change.setting, change.scope)]
    line = line_of(session, scope, change.setting, change.found, ours)
    if line.whose is Whose.AS_FOUND:
        return None
    if line.whose is Whose.THEIRS:
        return line.told(change.setting, change.undo)
    session.execute(change.undo.encode(), prepare=False)
    if scope.reloads:
        reload(session)
    return None


def _undo_where_it_was_made(
    parameters: ConnectionParameters, left: Sequence[Change], settled: set[str]
) -> str | None:
    database = left[-1].server.partition("/")[2]
    with connect(parameters, statement_limit_s=0) as session:
        if database in ("", session.info.dbname):
            return undo_newest(session, left, settled)
        if session.execute(statement("database_exists"), (database,)).fetchone() is None:
            return None  # dropped since, and what was in it
    with connect(replace(parameters, dbname=database), statement_limit_s=0) as session:
        return undo_newest(session, left, settled)


def sql_by_hand(left: Sequence[Change]) -> list[str]:
    """What a person would run to undo changes that are left, oldest first."""
    return [*(by_hand(one.undo) for one in reversed(left) if not one.is_restart), RELOAD]


def _told(left: Sequence[Change], why: str, server: str) -> str:
    todo = "; ".join(sql_by_hand(left))
    folders = [folder for folder in folders_of(left) if folder.is_dir()]
    then = recovering(folders) if folders else forgetting(server, left[-1])
    return (
        f"a run that was killed has left changes on this server that cannot be undone ({why}); run"
        f" there by hand: {todo}; then {then}"
    )
