"""What cannot be measured because of a server's settings, log, extensions or version.

Enters: a session. Leaves: `Check` values, each with the line that enables what is missing; the list
of them for environment.json. Never: changes anything, or takes what is missing for a fault.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, Self

import psycopg

from pgassay.errors import PgassayError, TargetError
from pgassay.notes import Note
from pgassay.server.connection.session import connect
from pgassay.server.hosts.host import Host
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.stored_notes import coded
from pgassay.trials.sampling.queries import (
    STATEMENTS,
    WAITS,
    Extension,
    extensions_in,
    queries_for,
    queries_from_later_on,
)
from pgassay.trials.server_log.entry import knows_language
from pgassay.trials.server_log.place import Missing, find_place, log_settings


@dataclass(frozen=True)
class Check:
    """What a check of the server found, and how to fix it."""

    name: str
    state: Literal["ok", "note", "fail"]
    found: str
    fix: str = ""
    notes: tuple[tuple[str, Note], ...] = ()
    """Name of a field above → the note that its sentence was made of; for reports."""

    @classmethod
    def noted(cls, name: Note | str, found: Note, fix: Note | str = "") -> Self:
        """Makes a check that says what is not measured."""
        parts = {"name": name, "found": found, "fix": fix}
        notes = tuple((part, one) for part, one in parts.items() if isinstance(one, Note))
        return cls(str(name), "note", str(found), str(fix), notes)

    @classmethod
    def refused(
        cls, name: str, error: PgassayError, state: Literal["note", "fail"] = "fail"
    ) -> Self:
        """Makes a check of what an error says, with its fix apart where it has one."""
        key, text = getattr(error, "key", None), getattr(error, "text", str(error))
        return cls(name, state, f"{key}: {text}" if key else text, getattr(error, "fix", ""))

    def fixed_by(self, fix: Note) -> Self:
        """Returns the same check with another fix."""
        others = tuple((part, one) for part, one in self.notes if part != "fix")
        return replace(self, fix=str(fix), notes=(*others, ("fix", fix)))

    def plain(self) -> dict[str, str]:
        """Returns the texts of the check by name."""
        return {"name": self.name, "state": self.state, "found": self.found, "fix": self.fix}


_RESETS = (STATEMENTS.resets, WAITS.resets)
"""Asked along with what they are about."""
_RELOAD = "SELECT pg_reload_conf();"


def check_log(
    session: Connection, parameters: ConnectionParameters, machine: Host | None = None
) -> list[Check]:
    """Checks whether the log can be read, and what the server is set to write into it."""
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
    """Returns the extensions whose library the server has loaded at its start: their settings
    exist."""
    return {row[0] for row in session.execute(statement("trials/preloaded")).fetchall()}


def check_extensions(
    version_num: int, extensions: Mapping[str, Extension], preloaded: Collection[str] = ()
) -> list[Check]:
    """Checks the extensions that give more details where they are installed; none is required."""
    checks = []
    for query in queries_for(version_num).values():
        if query.extension is None or query.name in _RESETS:
            continue
        found = extensions.get(query.extension)
        update = f"ALTER EXTENSION {query.extension} UPDATE;"
        if found is not None and query.is_preloaded and not found.is_loaded:
            lack = Note("trials/sampling/library-not-loaded", {"name": query.name})
            fix = f"shared_preload_libraries = '{query.extension}', then restart"
            checks.append(Check.noted(query.extension, lack, fix))
        elif query.is_for(extensions):
            checks.append(Check(query.extension, "ok", f"kept of every trial, as {query.name}"))
        elif query.sql_with(extensions) is not None and found is not None:
            version, floor = found.version, query.extension_floor
            values = {"version": version, "name": query.name, "floor": floor}
            lack = Note("trials/sampling/lacks-columns", values)
            checks.append(Check.noted(query.extension, lack, update))
        elif found is not None:
            version, floor = found.version, query.oldest.extension_floor
            lack = Note.of("trials/sampling/extension-too-old", version=version, floor=floor)
            checks.append(Check.noted(query.extension, lack, update))
        else:
            fix = f"CREATE EXTENSION {query.extension};"
            if query.is_preloaded and query.extension not in preloaded:
                fix = f"shared_preload_libraries = '{query.extension}', restart, then {fix}"
            lack = Note("trials/sampling/not-installed", {"name": query.name})
            checks.append(Check.noted(query.extension, lack, fix))
    for name, query in queries_from_later_on(version_num).items():
        if name in _RESETS:
            continue
        major = query.floor // 10000
        later = Note.of("trials/sampling/from-later-on", major=major, name=name)
        checks.append(Check.noted(query.extension or f"pg_stat_{name}", later))
    return checks


def _logged(settings: Mapping[str, Any]) -> Iterator[Check]:
    """Events that the server does not write."""
    if not settings["checkpoints"]:
        yield Check.noted(
            Note("trials/sampling/log-checkpoints"),
            Note("trials/sampling/no-log-checkpoints"),
            f"ALTER SYSTEM SET log_checkpoints = on; {_RELOAD}",
        )
    autovacuum = settings["autovacuum_ms"]
    if autovacuum != 0:
        over_s = autovacuum / 1000
        yield Check.noted(
            Note("trials/sampling/log-autovacuum"),
            Note("trials/sampling/no-log-autovacuum")
            if autovacuum < 0
            else Note("trials/sampling/some-log-autovacuum", {"over_s": over_s}),
            f"ALTER SYSTEM SET log_autovacuum_min_duration = 0; {_RELOAD}",
        )
    if settings["temp_kb"] < 0:
        yield Check.noted(
            Note("trials/sampling/log-temp-files"),
            Note("trials/sampling/no-log-temp-files"),
            f"ALTER SYSTEM SET log_temp_files = 0; {_RELOAD}",
        )
    if not settings["lock_waits"]:
        yield Check.noted(
            Note("trials/sampling/log-lock-waits"),
            Note("trials/sampling/no-log-lock-waits"),
            f"ALTER SYSTEM SET log_lock_waits = on; {_RELOAD}",
        )
    if not knows_language(settings):
        language = settings["language"]
        yield Check.noted(
            Note("trials/sampling/log-language"),
            Note("trials/sampling/other-log-language", {"language": language}),
            f"ALTER SYSTEM SET lc_messages = 'C'; {_RELOAD}",
        )


_QUERY_IDS = "compute_query_id"
_ANYWHERE = "ALTER SYSTEM SET {name} = {value}; SELECT pg_reload_conf();"


def check_settings(session: Connection, *, is_ours: bool = False) -> list[Check]:
    """Checks which settings keep something from being measured; `is_ours` says that the spec sets
    them, not the server's owner."""
    names = [entry["name"] for entry in hidden_settings()]
    rows = session.execute(statement("trials/tracking"), (names,), prepare=False)
    shown: dict[str, str] = {name: value for name, value in rows}  # noqa: C416 (rows are of Any)
    row = session.execute(statement("trials/own_query_id"), prepare=False).fetchone()
    has_ids = row is not None and bool(row[0])
    checks = []
    for entry in hidden_settings():
        name, value = entry["name"], shown.get(entry["name"])
        if value is None and "since" in entry:
            checks.append(Check.noted(*(Note(_code(entry, part)) for part in ("title", "unknown"))))
        elif value in entry["off"] and not (name == _QUERY_IDS and has_ids):
            wanted = {"name": name, "value": entry["value"]}
            ours = Note("trials/sampling/in-settings", wanted)
            fix = ours if is_ours else _ANYWHERE.format(**wanted)
            found = Note.of(_code(entry, "found"), value=str(value))
            checks.append(Check.noted(Note(_code(entry, "title")), found, fix))
    return checks


def not_measured(
    session: Connection, *, is_ours: bool = False, varied: Collection[str] = ()
) -> list[Check]:
    """Returns everything that is not measured on a server. `varied` are settings that the
    experiment itself changes."""
    left_out = {
        str(Note(_code(entry, "title"))) for entry in hidden_settings() if entry["name"] in varied
    }
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
            one.fixed_by(
                Note("trials/sampling/needs-preloaded", {"name": one.name})
                if one.name in preloaded
                else Note("trials/sampling/needs-extension")
            )
            if one.fix
            else one
            for one in missing
        ]
    settings = check_settings(session, is_ours=is_ours)
    return [*(one for one in settings if one.name not in left_out), *missing]


def described(found: Mapping[str, list[Check]]) -> list[dict[str, Any]]:
    """Returns the checks for environment.json, with the names of the servers where not all lack the
    same."""
    every = dict.fromkeys(check for checks in found.values() for check in checks)
    listed = []
    for check in every:
        entry: dict[str, Any] = {"name": check.name, "found": check.found, "fix": check.fix}
        for part, note in check.notes:
            entry |= coded(part, note)
        servers = [server for server, checks in found.items() if check in checks]
        listed.append(entry | ({"servers": servers} if len(servers) < len(found) else {}))
    return listed


def codes_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the codes of a setting's notes: its title, what was found, and, where it can be,
    unknown."""
    parts = ("title", "found", *(["unknown"] if "since" in entry else []))
    return tuple(_code(entry, part) for part in parts)


def _code(entry: Mapping[str, Any], part: str) -> str:
    return f"trials/sampling/{entry['name'].replace('_', '-')}-{part}"


@cache
def hidden_settings() -> tuple[Mapping[str, Any], ...]:
    """Returns the entry of every setting in hidden.toml."""
    found = tomllib.loads((files(__package__) / "hidden.toml").read_text("utf-8"))
    return tuple(found["setting"])
