"""What cannot be measured because of a server's settings, log, extensions or version.

Enters: a session. Leaves: `Check` values, each with the line that enables what is missing; the list
of them for environment.json. Never: changes anything, or takes what is missing for a fault.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import psycopg

from pgassay.errors import TargetError
from pgassay.language import stored
from pgassay.server.connection.session import connect
from pgassay.server.hosts.host import Host
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.trials.model.check import Check
from pgassay.trials.sampling.counted import STATEMENTS, WAITS
from pgassay.trials.sampling.queries import (
    Extension,
    extensions_in,
    queries_for,
    queries_from_later_on,
)
from pgassay.trials.server_log.entry import knows_language
from pgassay.trials.server_log.place import Missing, find_place, log_settings

_RESETS = (STATEMENTS.resets, WAITS.resets)
"""Asked along with what they are about."""
_RELOAD = "SELECT pg_reload_conf();"


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
        lack = f"{found.reason}: checkpoints are known to a second, without their figures"
        return [Check("server log", "note", lack, found.fix)]
    return [Check("server log", "ok", f"{found.form}, {found.where}"), *_logged(settings)]


def preloaded_in(session: Connection) -> set[str]:
    """Extensions whose library the server has loaded at its start: their settings exist."""
    return {row[0] for row in session.execute(statement("trials/preloaded")).fetchall()}


def check_extensions(
    version_num: int, extensions: Mapping[str, Extension], preloaded: Collection[str] = ()
) -> list[Check]:
    """Extensions that give more details where they are installed; none is required."""
    checks = []
    for query in queries_for(version_num).values():
        if query.extension is None or query.name in _RESETS:
            continue
        found = extensions.get(query.extension)
        update = f"ALTER EXTENSION {query.extension} UPDATE;"
        if found is not None and query.is_preloaded and not found.is_loaded:
            lack = stored(f"installed, but the server has not loaded its library: no {query.name}")
            fix = f"shared_preload_libraries = '{query.extension}', then restart"
            checks.append(Check(query.extension, "note", lack, fix))
        elif query.is_for(extensions):
            checks.append(Check(query.extension, "ok", f"kept of every trial, as {query.name}"))
        elif query.sql_with(extensions) is not None and found is not None:
            version, floor = found.version, query.extension_floor
            lack = stored(f"version {version}: {query.name} lack what {floor} has")
            checks.append(Check(query.extension, "note", lack, update))
        elif found is not None:
            version, floor = found.version, query.oldest.extension_floor
            lack = stored(f"version {version} is too old: {floor} is needed")
            checks.append(Check(query.extension, "note", lack, update))
        else:
            fix = f"CREATE EXTENSION {query.extension};"
            if query.is_preloaded and query.extension not in preloaded:
                fix = f"shared_preload_libraries = '{query.extension}', restart, then {fix}"
            lack = stored(f"not installed in this database: no {query.name}")
            checks.append(Check(query.extension, "note", lack, fix))
    for name, query in queries_from_later_on(version_num).items():
        if name in _RESETS:
            continue
        major = query.floor // 10000
        found_from = stored(f"read from PostgreSQL {major} on: no {name}")
        checks.append(Check(query.extension or f"pg_stat_{name}", "note", found_from))
    return checks


def _logged(settings: Mapping[str, Any]) -> Iterator[Check]:
    """Events that the server does not write."""
    if not settings["checkpoints"]:
        yield Check(
            stored("checkpoints in the log"),
            "note",
            stored("log_checkpoints is off: they are known to a second, without their figures"),
            f"ALTER SYSTEM SET log_checkpoints = on; {_RELOAD}",
        )
    autovacuum = settings["autovacuum_ms"]
    if autovacuum != 0:
        over_s = autovacuum / 1000
        yield Check(
            stored("autovacuum in the log"),
            "note",
            stored("of its runs none are logged")
            if autovacuum < 0
            else stored(f"of its runs only those over {over_s:g} s are logged"),
            f"ALTER SYSTEM SET log_autovacuum_min_duration = 0; {_RELOAD}",
        )
    if settings["temp_kb"] < 0:
        yield Check(
            stored("temporary files in the log"),
            "note",
            stored("log_temp_files is off: only their sums by database are known"),
            f"ALTER SYSTEM SET log_temp_files = 0; {_RELOAD}",
        )
    if not settings["lock_waits"]:
        yield Check(
            stored("lock waits in the log"),
            "note",
            stored("log_lock_waits is off: waits are sampled, not logged one by one"),
            f"ALTER SYSTEM SET log_lock_waits = on; {_RELOAD}",
        )
    if not knows_language(settings):
        language = settings["language"]
        yield Check(
            stored("language of the log"),
            "note",
            stored(f"lc_messages is {language}: messages are read in English and Russian"),
            f"ALTER SYSTEM SET lc_messages = 'C'; {_RELOAD}",
        )


_QUERY_IDS = "compute_query_id"
_ANYWHERE = "ALTER SYSTEM SET {name} = {value}; SELECT pg_reload_conf();"
_OURS = stored('{name} = "{value}" in [settings.postgres]')
_EXTENSION_OF_OURS = stored("a PostgreSQL that has it (target.bin); pgassay creates it")
_PRELOADED_OF_OURS = stored(
    "a PostgreSQL that has it (target.bin), and {name} in shared_preload_libraries of"
    " [settings.postgres]; pgassay creates it"
)


def check_settings(session: Connection, *, is_ours: bool = False) -> list[Check]:
    """What the settings hide; `is_ours` says that the spec sets them, not the server's owner."""
    names = [entry["name"] for entry in _entries()]
    rows = session.execute(statement("trials/tracking"), (names,), prepare=False)
    shown: dict[str, str] = {name: value for name, value in rows}  # noqa: C416 (rows are of Any)
    row = session.execute(statement("trials/own_query_id"), prepare=False).fetchone()
    has_ids = row is not None and bool(row[0])
    checks = []
    for entry in _entries():
        name, value = entry["name"], shown.get(entry["name"])
        if value is None and "unknown" in entry:
            checks.append(Check(entry["title"], "note", entry["unknown"]))
        elif value in entry["off"] and not (name == _QUERY_IDS and has_ids):
            fix = (_OURS if is_ours else _ANYWHERE).format(name=name, value=entry["value"])
            checks.append(Check(entry["title"], "note", entry["found"].format(value=value), fix))
    return checks


def not_measured(
    session: Connection, *, is_ours: bool = False, varied: Collection[str] = ()
) -> list[Check]:
    """All that is missing. `varied` are settings that the experiment itself changes."""
    left_out = {entry["title"] for entry in _entries() if entry["name"] in varied}
    missing = [
        check
        for check in check_extensions(
            session.info.server_version, extensions_in(session), preloaded_in(session)
        )
        if check.state == "note"
    ]
    if is_ours:
        # Waits are sampled anyway, and no PostgreSQL has this extension by itself.
        missing = [one for one in missing if one.name != WAITS.extension]
        queries = queries_for(session.info.server_version).values()
        preloaded = {query.extension for query in queries if query.is_preloaded}
        missing = [
            replace(one, fix=fix.format(name=one.name)) if one.fix else one
            for one in missing
            for fix in [_PRELOADED_OF_OURS if one.name in preloaded else _EXTENSION_OF_OURS]
        ]
    settings = check_settings(session, is_ours=is_ours)
    return [*(one for one in settings if one.name not in left_out), *missing]


def described(found: Mapping[str, list[Check]]) -> list[dict[str, Any]]:
    """For environment.json; with the servers that lack it where not all do."""
    every = dict.fromkeys(check for checks in found.values() for check in checks)
    listed = []
    for check in every:
        entry: dict[str, Any] = {"name": check.name, "found": check.found, "fix": check.fix}
        servers = [server for server, checks in found.items() if check in checks]
        listed.append(entry | ({"servers": servers} if len(servers) < len(found) else {}))
    return listed


@cache
def _entries() -> tuple[Mapping[str, Any], ...]:
    """Every setting of hidden.toml."""
    found = tomllib.loads((files(__package__) / "hidden.toml").read_text("utf-8"))
    return tuple(found["setting"])
