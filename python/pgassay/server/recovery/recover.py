"""Putting back what a killed run had changed.

Enters: the changes its journal still holds open. Leaves: each undone and marked so, or a
RestoreFailed with what a person has to do. Never: disturbs a run that is alive.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from functools import partial

import psycopg

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.refusals.refusal import RestoreRefused
from pgassay.server.change import (
    Change,
    KnobChange,
    OwnedServerChange,
    SchemaChange,
    ServerChange,
    SettingChange,
    VariantChange,
)
from pgassay.server.comparison import Comparison
from pgassay.server.connection.session import (
    Work,
    as_target_error,
    connect,
    identity,
    one_line,
    resolve,
    server_row,
)
from pgassay.server.existing.access import SQL_ONLY, Access
from pgassay.server.existing.requirements import not_restored
from pgassay.server.existing.snapshot import compared_with_digests
from pgassay.server.hosts.account import server_account
from pgassay.server.hosts.host import Host
from pgassay.server.knobs.host_knobs import recover_host
from pgassay.server.owned.workspace import DATA_VARIABLE, base_of, sweep_one
from pgassay.server.protocol import Connection, Journal
from pgassay.server.recovery.undo_changes import OwedRestart, Place, bring_up, undo_newest
from pgassay.server.settings.statements import put_in_order
from pgassay.server.undo import run_lock
from pgassay.server.undo.change_record import RecordedJournal
from pgassay.server.undo.mark import Mark, with_changes
from pgassay.server.undo.marking import MarkedJournal, ServerMark, own_mark
from pgassay.server.undo.undo_sql import sql_to_paste
from pgassay.server.undo.undoing import undo_each


def recover(
    dsn: str | None,
    changes: Sequence[Change],
    journal: Journal,
    access: Access = SQL_ONLY,
    compared: Callable[[Comparison], None] = lambda _: None,
) -> list[str]:
    """Undo open changes, newest first; `dsn` is the run's `target.dsn`, if it had one.

    Returns a sentence for each change that is left as it is, because others have changed the
    same thing since. `compared` gets how the server differs from before, where its mark says what
    that was.
    """
    knobs = [change for change in changes if isinstance(change, KnobChange)]
    owned = [change for change in changes if isinstance(change, OwnedServerChange)]
    others = [one for one in changes if not isinstance(one, KnobChange | OwnedServerChange)]
    host = access.host()
    notes: list[str] = []
    recovered: list[KnobChange] = []

    def on_host() -> None:
        if knobs:
            notes.extend(recover_host(knobs, journal, host))
            recovered.extend(knobs)

    def on_server() -> None:
        recover_owned(owned, journal)
        if others and dsn is None:
            raise RestoreRefused("no-server-to-recover")
        if others and dsn is not None:
            of_host = [] if recovered else knobs
            mark = recover_existing(dsn, others, journal, access, host, notes, of_host)
            if mark is not None:
                compared(compared_with_digests(resolve(dsn), mark.digests))
        elif recovered and dsn is not None:
            _remove_mark(dsn, journal)

    try:
        # As at the end of a run: a server that is started again finds its host restored.
        undo_each(on_host, on_server)
    except TargetError as error:
        if not notes:
            raise
        # What these notes are about is settled, so the next attempt will not mention it.
        raise RestoreRefused("not-put-back-each", problems=(error, *notes)) from error
    finally:
        host.close()
    return notes


def recover_owned(changes: Sequence[OwnedServerChange], journal: Journal) -> None:
    """Removes the servers that a killed run has started and left."""
    for change in reversed(changes):
        directory, base = change.directory, base_of(server_account())
        if change.base == str(base):
            try:
                sweep_one(base / f"{change.name}.owner")
            except FileNotFoundError:
                pass
            except OSError as error:
                why = {"directory": directory, "why": error.strerror, "command": change.by_hand}
                raise RestoreRefused("directory-not-removed", **why) from None
        elif os.path.lexists(directory):
            again = f"{DATA_VARIABLE}={change.base}"
            raise RestoreRefused("directory-elsewhere", directory=directory, base=base, own=again)
        if os.path.lexists(directory):
            command = change.by_hand
            raise RestoreRefused("directory-still-there", directory=directory, command=command)
        journal.undone(change.id)


def recover_existing(
    dsn: str,
    changes: Sequence[Change],
    journal: Journal,
    access: Access,
    host: Host,
    notes: list[str],
    of_host: Sequence[KnobChange] = (),
) -> Mark | None:
    """Undo on the existing server, if it is the one that the run had changed; the mark that the run
    had left there, where there is one. `of_host` are those that stay in it.

    `notes` receives the sentences of `recover`, also those before a failure.
    """
    try:
        parameters = resolve(dsn)
    except ConnectionRefused as refused:
        bring_up(dsn, changes, access, host, refused)
        parameters = resolve(dsn)
    left = list(changes)
    settled: set[Place] = set()
    with connect(parameters, work=Work.OWN_CHANGES, statement_limit_s=0) as session:
        run_lock.take(session)
        _refuse_other_server(session, changes)
        restart = OwedRestart(access, host)
        record = RecordedJournal(journal)
        record.begin(identity(session) or parameters.label)
        with as_target_error("looking for the mark of this run"):
            mark = own_mark(session, journal.run)
            removal = [] if mark is None else mark.place.removal(session)
        on_server = ServerMark()
        marked = MarkedJournal(record, on_server)
        if mark is not None:
            again = partial(connect, parameters, work=Work.OWN_CHANGES)
            on_server.begin(again, mark.place, mark.mark, [*of_host, *changes])
        try:
            while left:
                change = left[-1]
                note = undo_newest(session, left, settled)
                if note is not None:
                    notes.append(note)
                if isinstance(change, SettingChange) and change.data:
                    restart.add(change)
                else:
                    marked.undone(change.id)
                left.pop()
            left = list(restart.pending)
            put_in_order(session, () if mark is None else mark.mark.order)
            notes += restart.carry_out(session, parameters)
            while left:
                marked.undone(left.pop(0).id)
        except (TargetError, psycopg.Error) as error:
            commands = [restart.command] if restart.command else []
            sql = [] if commands else [*sql_to_paste(left, parameters.dbname), *removal]
            why = one_line(error) if isinstance(error, psycopg.Error) else error
            raise not_restored(parameters, [why], sql, commands) from error
    return None if mark is None else mark.mark


def _remove_mark(dsn: str, journal: Journal) -> None:
    """Of a run that has changed nothing but its host, where the server answers."""
    with (
        contextlib.suppress(ConnectionRefused),
        as_target_error("removing the mark of this run"),
        connect(resolve(dsn), work=Work.OWN_CHANGES) as session,
    ):
        mark = own_mark(session, journal.run)
        if mark is not None:
            mark.place.write(session, with_changes(mark.mark, ()))


def _refuse_other_server(session: Connection, changes: Sequence[Change]) -> None:
    where = f"{session.info.host}:{session.info.port}"
    here = identity(session)
    if any(change.server not in ("", here) for change in changes if here) or any(
        change.database != session.info.dbname
        for change in changes
        if isinstance(change, SchemaChange | VariantChange)
    ):
        raise RestoreRefused("not-the-server-of-the-run", server=where)
    data = server_row(session).data_directory
    known = [one.data for one in changes if isinstance(one, ServerChange) and one.data]
    other = next((one for one in known if one != data), "")
    if data and other:
        # A copy of a server has its system identifier.
        sql = tuple(sql_to_paste(changes, session.info.dbname))
        values = {"server": where, "data": data, "other": other, "sql": sql}
        raise RestoreRefused("data-elsewhere", **values)
