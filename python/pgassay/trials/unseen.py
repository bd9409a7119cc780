"""What a server's own settings, extensions and version keep from being seen.

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

from pgassay.target.protocol import Connection
from pgassay.target.statements import statement
from pgassay.trials.check import Check
from pgassay.trials.queries import extensions_in
from pgassay.trials.source_checks import check_extensions

_QUERY_IDS = "compute_query_id"
_ANYWHERE = "ALTER SYSTEM SET {name} = {value}; SELECT pg_reload_conf();"
_OURS = '{name} = "{value}" in [settings.postgres]'
_EXTENSION_OF_OURS = (
    "a PostgreSQL that has it (target.bin), shared_preload_libraries in [settings.postgres], and"
    " CREATE EXTENSION {name}; in the workload's schema.sql"
)


def check_settings(session: Connection, *, is_ours: bool = False) -> list[Check]:
    """What the settings hide; `is_ours` says that the spec sets them, not the server's owner."""
    names = [entry["name"] for entry in _entries()]
    rows = session.execute(statement("tracking"), (names,), prepare=False)
    shown: dict[str, str] = {name: value for name, value in rows}  # noqa: C416 (rows are of Any)
    row = session.execute(statement("own_query_id"), prepare=False).fetchone()
    has_ids = row is not None and bool(row[0])
    return [
        Check(
            entry["title"],
            "note",
            entry["found"].format(value=value),
            (_OURS if is_ours else _ANYWHERE).format(name=entry["name"], value=entry["value"]),
        )
        for entry in _entries()
        if (value := shown.get(entry["name"])) in entry["off"]
        and not (entry["name"] == _QUERY_IDS and has_ids)
    ]


def not_seen(
    session: Connection, *, is_ours: bool = False, varied: Collection[str] = ()
) -> list[Check]:
    """All that is missing. `varied` are settings that the experiment itself changes."""
    left_out = {entry["title"] for entry in _entries() if entry["name"] in varied}
    missing = [
        check
        for check in check_extensions(session.info.server_version, extensions_in(session))
        if check.state == "note"
    ]
    if is_ours:
        missing = [
            replace(one, fix=_EXTENSION_OF_OURS.format(name=one.name)) if one.fix else one
            for one in missing
        ]
    settings = check_settings(session, is_ours=is_ours)
    return [*(one for one in settings if one.name not in left_out), *missing]


def described(found: Mapping[str, list[Check]]) -> list[dict[str, Any]]:
    """For environment.json, by server; which of them is said where it is not all."""
    every = dict.fromkeys(check for checks in found.values() for check in checks)
    return [dict(_told(check, found)) for check in every]


def _told(check: Check, found: Mapping[str, list[Check]]) -> Iterator[tuple[str, Any]]:
    yield from (("name", check.name), ("found", check.found), ("fix", check.fix))
    servers = [server for server, checks in found.items() if check in checks]
    if len(servers) < len(found):
        yield "servers", servers


@cache
def _entries() -> tuple[Mapping[str, Any], ...]:
    """Every setting of unseen.toml."""
    found = tomllib.loads((files(__package__) / "unseen.toml").read_text("utf-8"))
    return tuple(found["setting"])
