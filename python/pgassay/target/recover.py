"""Putting back what a run that died had changed.

Enters: the entries its journal still holds open. Leaves: each undone and marked so, or a
RestoreFailed with what is left to do by hand. Never: disturbs a run that is alive.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psycopg

from pgassay.errors import ConnectionRefused, RestoreFailed, TargetError
from pgassay.target import run_lock
from pgassay.target.access import SQL_ONLY, Access
from pgassay.target.answering import is_up
from pgassay.target.by_data import look
from pgassay.target.found_stopped import (
    is_down,
    is_ours,
    marked,
    service_of,
    settle_left,
    start_left,
)
from pgassay.target.host import Host
from pgassay.target.host_knobs import recover_host
from pgassay.target.left_by_data import is_another, told_of_another, way_as_left
from pgassay.target.left_over import remove_start_logs, sql_by_hand, undo_newest
from pgassay.target.protocol import Change, Connection, Journal
from pgassay.target.recover_copy import give_back_copied, newest_copy
from pgassay.target.recover_service import Restart, bring_up
from pgassay.target.seat import Seat, is_elsewhere, seat_here, seat_of
from pgassay.target.server_memory import RememberedJournal
from pgassay.target.session import connect, identity, one_line, resolve, told_as_target_error
from pgassay.target.standing import not_restored
from pgassay.target.undoing import undo_each
from pgassay.target.workspace import sweep


def recover(
    dsn: str | None,
    changes: Sequence[Change],
    journal: Journal,
    access: Access = SQL_ONLY,
    *,
    moved_to: str | None = None,
) -> list[str]:
    """Undo open changes, newest first; `dsn` is the run's `target.dsn`, if it had one, or what it
    had of one beside `target.data`. `moved_to`: where the run's server is now, as whoever asks
    says, though its data or its address are others.

    Returns a sentence for each change that was left as it is, because somebody has changed the
    same thing since.
    """
    host = [change for change in changes if change.knob]
    changes = [change for change in changes if not change.knob]
    machine = access.host()
    notes: list[str] = []

    def server() -> None:
        if dsn is None:
            if moved_to is not None:
                raise RestoreFailed("the server was the run's own, and has no address but that")
            recover_owned(changes, journal)
        elif moved_to is not None:
            _refuse_started(changes)
            recover_existing(moved_to, changes, journal, access, machine, notes, moved=True)
        elif any(change.started for change in changes):
            recover_started(changes, journal, access, machine, notes)
        elif changes:
            way = dsn if access.data is None else _way(dsn, changes, access, machine)
            recover_existing(way, changes, journal, access, machine, notes)

    def knobs() -> None:
        if host:
            notes.extend(recover_host(host, journal, machine))

    try:
        # As a run does at its end: a server that is started again shall find the host as it was.
        undo_each(knobs, server)
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


def recover_started(
    changes: Sequence[Change],
    journal: Journal,
    access: Access,
    machine: Host,
    notes: list[str],
) -> None:
    """Undo on a server that was found stopped, then stop it again."""
    change = next(change for change in changes if change.started)
    others = [one for one in changes if one is not change]
    if is_another(change, access, machine):
        raise RestoreFailed(told_of_another(change, machine))
    # Taken into use by somebody since: it stays up, whatever it takes to undo the rest.
    was_down = is_down(change, machine)
    theirs = not was_down and not is_ours(change, machine)
    again = access if theirs else marked(access, change)
    if others:
        try:
            if newest_copy(others) is None:
                start_left(change, others, again, machine)
            recover_existing(change.reached, others, journal, again, machine, notes)
        except BaseException as error:
            if was_down:
                _stop_again(change, again, machine, error)
            raise
    if not theirs:
        _refuse_other_runs(change, machine)
    note = settle_left(change, access, machine)
    notes += [note] if note else []
    remembering = RememberedJournal(journal)
    remembering.speaks_of(change.server)
    remembering.undone(change.id)


def _refuse_started(changes: Sequence[Change]) -> None:
    """RestoreFailed for a server that the run had started: where it lies now is not known."""
    for change in changes:
        if change.started:
            raise RestoreFailed(
                f"the run had started this server, and stops it only where it was; by hand, where"
                f" it is now: {'; '.join(one.undo for one in reversed(changes))}"
            )


def _refuse_other_runs(change: Change, machine: Host) -> None:
    """TargetError where a run that is alive uses what was started, by its address: it is not to be
    stopped under that."""
    if is_down(change, machine) or not is_up(change.reached):
        return
    try:
        session = connect(resolve(change.reached))
    except ConnectionRefused:
        return  # it may be stopped without a login
    with closing(session), told_as_target_error("looking for other runs"):
        run_lock.refuse_other_runs(session)


def _stop_again(change: Change, access: Access, machine: Host, why: BaseException) -> None:
    """What was started to undo a run's changes, which could not be undone."""
    try:
        if is_ours(change, machine):
            service_of(change, access, machine).stop()
    except TargetError as error:
        raise RestoreFailed(f"{why}; and the server runs ({error}): {change.undo}") from why


def recover_existing(
    dsn: str,
    changes: Sequence[Change],
    journal: Journal,
    access: Access,
    machine: Host,
    notes: list[str],
    *,
    moved: bool = False,
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
        told = bring_up(dsn, changes, access, machine, refused)
        notes += [told] if told else []
        parameters = resolve(dsn)
    left = list(changes)
    settled: set[str] = set()
    with connect(parameters, statement_limit_s=0) as session:
        with told_as_target_error("taking the run lock"):
            run_lock.take(session)
        seat = None if moved else seat_here(session, parameters, machine)
        _refuse_other_server(session, changes, seat)
        restart = Restart(access, machine)
        remembering = RememberedJournal(journal)
        remembering.speaks_of(identity(session) or parameters.label)
        try:
            while left:
                change = left[-1]
                note = undo_newest(session, left, settled)
                if note is not None:
                    notes.append(note)
                if change.data and not change.is_restart:
                    restart.wait_for(change)
                else:
                    remembering.undone(change.id)
                left.pop()
            left = list(restart.waiting)
            notes += restart.carry_out(session, parameters)
            while left:
                remembering.undone(left.pop(0).id)
            remove_start_logs(changes, machine)
        except (TargetError, psycopg.Error) as error:
            commands = [restart.by_hand] if restart.by_hand else []
            sql = [] if commands else sql_by_hand(left)
            why = not_restored(parameters, [one_line(error)], sql, commands)
            raise RestoreFailed(why) from error


def _way(dsn: str, changes: Sequence[Change], access: Access, host: Host) -> str:
    """Where SQL reaches the cluster that `target.data` names, in whatever state it was left."""
    lying = next((one for one in changes if one.data), None)
    if lying is not None and is_another(lying, access, host):
        raise RestoreFailed(told_of_another(lying, host))
    return way_as_left(dsn, changes, access, host) or look(dsn, access, host).dsn


def _refuse_other_server(session: Connection, changes: Sequence[Change], seat: Seat | None) -> None:
    here = {"", identity(session), identity(session, with_database=True)}
    other = len(here) > 1 and any(change.server not in here for change in changes)
    apart = None
    if seat is not None:
        apart = next((one for one in changes if is_elsewhere(one, seat)), None)
    if other or apart is not None:
        which = "" if apart is None else f" ({seat_of(apart)})"
        if not other:
            which += ", as far as its data and address tell; if it is, moved since: --moved-to DSN"
        raise RestoreFailed(
            f"{session.info.host}:{session.info.port} is not the server and database of this run"
            f"{which}; set PGSERVICE, PGHOST and the like as they were then"
        )
