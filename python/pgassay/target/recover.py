"""Putting back what a run that died had changed.

Enters: the entries its journal still holds open. Leaves: each undone and marked so, or a
RestoreFailed with what is left to do by hand. Never: disturbs a run that is alive.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psycopg

from pgassay.errors import ConnectionRefused, RestoreFailed, TargetError
from pgassay.target import run_lock
from pgassay.target.access import SQL_ONLY, Access
from pgassay.target.host import Host
from pgassay.target.host_knobs import recover_host
from pgassay.target.left_over import undo_newest
from pgassay.target.protocol import Change, Connection, Journal
from pgassay.target.recover_copy import give_back_copied
from pgassay.target.recover_service import Restart, bring_up
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.service_control import START_LOG
from pgassay.target.session import connect, identity, one_line, resolve, told_as_target_error
from pgassay.target.setting_statements import RELOAD
from pgassay.target.standing import not_restored
from pgassay.target.undoing import undo_each
from pgassay.target.workspace import sweep


def recover(
    dsn: str | None, changes: Sequence[Change], journal: Journal, access: Access = SQL_ONLY
) -> list[str]:
    """Undo open changes, newest first; `dsn` is the run's `target.dsn`, if it had one.

    Returns a sentence for each change that was left as it is, because somebody has changed the
    same thing since.
    """
    host = [change for change in changes if change.knob]
    changes = [change for change in changes if not change.knob]
    machine = access.host()
    notes: list[str] = []

    def server() -> None:
        if dsn is None:
            recover_owned(changes, journal)
        elif changes:
            recover_existing(dsn, changes, journal, access, machine, notes)

    def knobs() -> None:
        if host:
            notes.extend(recover_host(host, journal, machine))

    try:
        undo_each(server, knobs)
    except TargetError as error:
        if not notes:
            raise
        # Each was settled, so the next try will not come by it again.
        raise RestoreFailed("; ".join([str(error), *notes])) from error
    finally:
        machine.close()
    return notes


def recover_owned(changes: Sequence[Change], journal: Journal) -> None:
    """Remove the servers that a dead run started and left."""
    for change in reversed(changes):
        directory = Path(shlex.split(change.undo)[2])
        sweep(directory.parent)
        if directory.exists():
            raise RestoreFailed(
                f"{directory} is still there: its run is alive, or it belongs to another user; "
                f"end the run, or as that user: {change.undo}"
            )
        journal.undone(change.id)


def recover_existing(
    dsn: str,
    changes: Sequence[Change],
    journal: Journal,
    access: Access,
    machine: Host,
    notes: list[str],
) -> None:
    """Undo on the existing server, if it is the one the journal speaks of.

    `notes` is given the sentences of `recover`, also of those before a failure.
    """
    changes = give_back_copied(dsn, changes, journal, access, machine, notes)
    if not changes:
        return
    try:
        parameters = resolve(dsn)
    except ConnectionRefused as refused:
        bring_up(dsn, changes, access, machine, refused)
        parameters = resolve(dsn)
    left = list(changes)
    settled: set[str] = set()
    with connect(parameters, statement_limit_s=0) as session:
        with told_as_target_error("taking the run lock"):
            run_lock.take(session)
        _refuse_other_server(session, changes)
        restart = Restart(access, machine)
        remembering = RememberedJournal(journal)
        remembering.speaks_of(identity(session) or parameters.label)
        try:
            while left:
                change = left[-1]
                note = undo_newest(session, left, settled)
                if note is not None:
                    notes.append(note)
                if change.data:
                    restart.wait_for(change)
                else:
                    remembering.undone(change.id)
                left.pop()
            left = list(restart.waiting)
            notes += restart.carry_out(session, lambda: connect(parameters).close())
            while left:
                remembering.undone(left.pop(0).id)
            _remove_start_logs(changes, machine)
        except (TargetError, psycopg.Error) as error:
            sql = [*(change.undo for change in reversed(left)), RELOAD]
            todo = [restart.by_hand] if restart.by_hand else sql
            raise RestoreFailed(not_restored(parameters, [one_line(error)], todo)) from error


def _remove_start_logs(changes: Sequence[Change], machine: Host) -> None:
    """What a run that was killed at a restart has left beside the server's files."""
    for data in {change.data for change in changes if change.data}:
        with suppress(OSError):
            machine.remove(Path(data) / START_LOG)


def _refuse_other_server(session: Connection, changes: Sequence[Change]) -> None:
    here = {"", identity(session), identity(session, with_database=True)}
    if len(here) > 1 and any(change.server not in here for change in changes):
        raise RestoreFailed(
            f"{session.info.host}:{session.info.port} is not the server and database of this run;"
            " set PGSERVICE, PGHOST and the like as they were then"
        )
