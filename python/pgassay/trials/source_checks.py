"""What of a server's own records can be read: its log, its extensions.

Enters: a session of the server. Leaves: `Check` values, each with the line that mends it.
Never: changes anything, or raises for what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from pgassay.errors import TargetError
from pgassay.target.host import Host
from pgassay.target.protocol import Connection, ConnectionParameters
from pgassay.target.session import connect
from pgassay.trials.check import Check
from pgassay.trials.queries import Extension, queries_for, queries_from_later_on
from pgassay.trials.server_log.entry import knows_language
from pgassay.trials.server_log.place import Missing, find_place, log_settings
from pgassay.trials.statement_statistics import STATEMENTS, WAITS

_RESETS = (STATEMENTS.resets, WAITS.resets)
"""Asked along with what they are about."""
_RELOAD = "SELECT pg_reload_conf();"
_PRELOAD = {
    "pg_stat_statements": (
        "shared_preload_libraries = 'pg_stat_statements', restart, "
        "then CREATE EXTENSION pg_stat_statements;"
    ),
    "pg_wait_sampling": (
        "shared_preload_libraries = 'pg_wait_sampling', restart, "
        "then CREATE EXTENSION pg_wait_sampling;"
    ),
}


def check_log(
    session: Connection, parameters: ConnectionParameters, machine: Host | None = None
) -> list[Check]:
    """Whether the log can be read, and what the server is set to write into it."""
    try:
        host = parameters.hostaddr or parameters.host
        found = find_place(session, lambda: connect(parameters), host, machine=machine)
        settings = log_settings(session)
    except (psycopg.Error, TargetError) as error:
        return [Check("server log", "note", str(error).splitlines()[0])]
    if isinstance(found, Missing):
        seen = f"{found.reason}: checkpoints are known to a second, without their figures"
        return [Check("server log", "note", seen, found.fix)]
    return [Check("server log", "ok", f"{found.form}, {found.where}"), *_logged(settings)]


def check_extensions(version_num: int, extensions: Mapping[str, Extension]) -> list[Check]:
    """Those that tell more where they are installed; none is required."""
    checks = []
    for query in queries_for(version_num).values():
        if query.extension is None or query.name in _RESETS:
            continue
        found = extensions.get(query.extension)
        update = f"ALTER EXTENSION {query.extension} UPDATE;"
        if query.is_for(extensions):
            checks.append(Check(query.extension, "ok", f"kept of every trial, as {query.name}"))
        elif query.sql_with(extensions) is not None and found is not None:
            seen = f"version {found.version}: {query.name} lack what {query.extension_floor} tells"
            checks.append(Check(query.extension, "note", seen, update))
        elif found is not None:
            seen = f"version {found.version} is too old: {query.oldest.extension_floor} is needed"
            checks.append(Check(query.extension, "note", seen, update))
        else:
            fix = _PRELOAD.get(query.extension, f"CREATE EXTENSION {query.extension};")
            checks.append(
                Check(
                    query.extension, "note", f"not installed in this database: no {query.name}", fix
                )
            )
    for name, query in queries_from_later_on(version_num).items():
        found_from = f"read from PostgreSQL {query.floor // 10000} on: no {name}"
        checks.append(Check(query.extension or f"pg_stat_{name}", "note", found_from))
    return checks


def _logged(settings: Mapping[str, Any]) -> Iterator[Check]:
    """Events that the server does not write."""
    if not settings["checkpoints"]:
        yield Check(
            "checkpoints in the log",
            "note",
            "log_checkpoints is off: they are known to a second, without their figures",
            f"ALTER SYSTEM SET log_checkpoints = on; {_RELOAD}",
        )
    autovacuum = settings["autovacuum_ms"]
    if autovacuum != 0:
        over = "none" if autovacuum < 0 else f"only those over {autovacuum / 1000:g} s"
        yield Check(
            "autovacuum in the log",
            "note",
            f"of its runs {over} are logged",
            f"ALTER SYSTEM SET log_autovacuum_min_duration = 0; {_RELOAD}",
        )
    if settings["temp_kb"] < 0:
        yield Check(
            "temporary files in the log",
            "note",
            "log_temp_files is off: only their sums by database are known",
            f"ALTER SYSTEM SET log_temp_files = 0; {_RELOAD}",
        )
    if not settings["lock_waits"]:
        yield Check(
            "lock waits in the log",
            "note",
            "log_lock_waits is off: waits are sampled, not each one told",
            f"ALTER SYSTEM SET log_lock_waits = on; {_RELOAD}",
        )
    if not knows_language(settings["language"]):
        yield Check(
            "language of the log",
            "note",
            f"lc_messages is {settings['language']}: messages are read in English and Russian",
            f"ALTER SYSTEM SET lc_messages = 'C'; {_RELOAD}",
        )
