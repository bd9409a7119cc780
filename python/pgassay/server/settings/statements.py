"""The SQL that changes a setting of an existing server, and what the server has written of it.

Enters: a session, names, values. Leaves: the statements, their outcome, the configuration reloaded.
Never: restarts, or keeps track of what was changed.
"""

from __future__ import annotations

import time

import psycopg
from psycopg import sql

from pgassay.errors import SettingRejected, TargetError
from pgassay.server.connection.session import one_line, target_failure
from pgassay.server.protocol import Connection
from pgassay.server.settings.file_lines import read_file_lines
from pgassay.server.undo.undo_sql import LIST_OF_NAMES, RELOAD, split_names

RELOAD_LIMIT_S = 15.0
POLL_S = 0.02


def is_line_of(name: str, value: str, written: str | None) -> bool:
    """Whether what is written of a setting is what setting this value writes."""
    if written is None or name.lower() not in LIST_OF_NAMES:
        return written == value
    return split_names(written) == split_names(value)


def execute(session: Connection, command: sql.Composed, name: str) -> None:
    try:
        session.execute(command, prepare=False)
    except psycopg.OperationalError as error:
        raise target_failure(error, command.as_string(session)) from error
    except psycopg.Error as error:
        raise SettingRejected(
            name, f"{command.as_string(session)}: {one_line(error)}", sqlstate=error.sqlstate
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
    reason = f": {wrong[0]}" if wrong else "; see the server's log"
    raise TargetError(f"the server did not reload its files in {RELOAD_LIMIT_S:g} s{reason}")


def _load_time(session: Connection) -> object:
    row = session.execute("SELECT pg_conf_load_time()::text").fetchone()
    return row[0] if row else None
