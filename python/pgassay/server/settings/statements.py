"""The SQL that changes a setting of an existing server, and what the server has written of it.

Enters: a session, names, values. Leaves: the statements, their outcome, the configuration reloaded.
Never: restarts, or keeps track of what was changed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import psycopg
from psycopg import sql

from pgassay.errors import TargetError
from pgassay.refusals.refusal import SettingRefused, TargetRefused
from pgassay.server.connection.session import one_line, target_failure
from pgassay.server.protocol import Connection
from pgassay.server.settings.pending_changes import read_file_lines
from pgassay.server.settings.scope import SERVER
from pgassay.server.undo.undo_sql import LIST_OF_NAMES, RELOAD, assignment, split_names
from pgassay.spec.secrets.redaction import shown_of

RELOAD_LIMIT_S = 15.0
POLL_S = 0.02


def is_line_of(name: str, value: str, written: str | None) -> bool:
    """Whether what is written of a setting is what setting this value writes."""
    if written is None or name.lower() not in LIST_OF_NAMES:
        return written == value
    return split_names(written) == split_names(value)


def put_in_order(session: Connection, names: Sequence[str]) -> None:
    """Bring the entries of postgresql.auto.conf into this order, where they are these.

    ALTER SYSTEM SET moves an entry to the end, so those behind the first one that is not in its
    place are set once more to what they are. Nothing is done where one of them may hold a secret,
    which the server's log would show.
    """
    now = SERVER.lines(session) if names else None
    if not now or len(now) != len(names):
        return
    values = {name.lower(): value for name, value in now}
    at = next((at for at, name in enumerate(names) if now[at][0] != name), len(names))
    behind = [(name, values.get(name.lower())) for name in names[at:]]
    if any(value is None or shown_of(name, value) != value for name, value in behind):
        return
    with suppress(TargetError):  # the values are right in any order
        for name, value in behind:
            execute(session, assignment(name, value or "", SERVER.alter), name)


def execute(session: Connection, command: sql.Composed, name: str) -> None:
    try:
        session.execute(command, prepare=False)
    except psycopg.OperationalError as error:
        raise target_failure(error, command.as_string(session)) from error
    except psycopg.Error as error:
        made = command.as_string(session)
        raise SettingRefused(
            name, "statement-rejected", sqlstate=error.sqlstate, statement=made, why=one_line(error)
        ) from error


def reload(session: Connection) -> None:
    """Reload the configuration and wait until it has happened.

    The postmaster reads the files first, then signals its sessions: once ours has reloaded,
    every new session starts with the new values.
    """
    try:
        before = _load_time(session)
        session.execute(RELOAD)
        end = time.monotonic() + RELOAD_LIMIT_S
        while time.monotonic() < end:
            if _load_time(session) != before:
                return
            time.sleep(POLL_S)
        files = read_file_lines(session)
    except psycopg.Error as error:
        raise target_failure(error, RELOAD) from error
    # A file that cannot be read at all says more than the settings that are missed for it.
    wrong = sorted(files.errors, key=lambda one: bool(one.setting)) if files else ()
    if wrong:
        raise TargetRefused("files-not-reloaded-for", seconds=RELOAD_LIMIT_S, wrong=wrong[0])
    raise TargetRefused("files-not-reloaded", seconds=RELOAD_LIMIT_S)


def _load_time(session: Connection) -> object:
    row = session.execute("SELECT pg_conf_load_time()::text").fetchone()
    return row[0] if row else None
