"""Undoing one by one what a run that died has left on an existing server.

Enters: the changes, a session or where to open one. Leaves: each undone, with a sentence for those
that somebody has changed since. Never: overwrites what is not ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import psycopg

from pgassay.errors import TargetError
from pgassay.spec.redaction import redacted
from pgassay.target.protocol import Change, Connection, ConnectionParameters
from pgassay.target.schema import DROP, refuse_foreign
from pgassay.target.schema_variants import is_undo_of_a_variant, take_back
from pgassay.target.server_memory import forget, memory_file, remembered
from pgassay.target.session import connect, one_line
from pgassay.target.setting_statements import RELOAD, is_line_of, reload, written_value
from pgassay.target.statements import statement


def undo_left_over(parameters: ConnectionParameters, server: str) -> list[str]:
    """What this machine remembers of `server`; the caller holds the server's lock."""
    left = remembered(server)
    notes: list[str] = []
    settled: set[str] = set()
    while left:
        try:
            note = _undo_where_it_was_made(parameters, left[-1], settled)
        except (TargetError, psycopg.Error) as error:
            raise TargetError(_told(left, one_line(error), server)) from error
        if note is not None:
            notes.append(note)
        forget(server, left.pop().id)
    return notes


def undo_change(session: Connection, change: Change, settled: set[str]) -> str | None:
    """Undo one change; a sentence where somebody's later change stands in the way.

    `settled` are the settings that have been seen to already.
    """
    if not change.setting:
        if change.undo == DROP.as_string(session) and not refuse_foreign(session):
            return None
        if is_undo_of_a_variant(session, change.undo):
            take_back(session, change.undo)
        else:
            session.execute(change.undo.encode(), prepare=False)
        return None
    if change.setting in settled:
        return None  # a later change of ours to the same setting has been undone already
    settled.add(change.setting)
    visible, written = written_value(session, change.setting)
    if visible and written == change.found:
        return None
    if visible and not is_line_of(change.setting, change.value, written):
        return (
            f"{change.setting} is {redacted(written or 'not set')} now, which this run did not"
            f" write: left as it is; before the run: {change.undo}"
        )
    session.execute(change.undo.encode(), prepare=False)
    reload(session)
    return None


def _undo_where_it_was_made(
    parameters: ConnectionParameters, change: Change, settled: set[str]
) -> str | None:
    database = change.server.partition("/")[2]
    with connect(parameters, statement_limit_s=0) as session:
        if database in ("", session.info.dbname):
            return undo_change(session, change, settled)
        if session.execute(statement("database_exists"), (database,)).fetchone() is None:
            return None  # dropped since, and what was in it
    with connect(replace(parameters, dbname=database), statement_limit_s=0) as session:
        return undo_change(session, change, settled)


def _told(left: Sequence[Change], why: str, server: str) -> str:
    todo = "; ".join([*(change.undo for change in reversed(left)), RELOAD])
    return (
        f"a run that was killed has left changes on this server that cannot be undone ({why}); run"
        f" there by hand: {todo}; then remove {memory_file(server)}"
    )
