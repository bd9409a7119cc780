"""The SQL and shell commands that undo a change, made from its fields.

Enters: a change. Leaves: the statement that undoes it, or text to paste. Never: runs anything, or
uses a stored statement but the undo of a schema variant, which is the user's own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from psycopg import sql

from pgassay.server.change import (
    Change,
    DatabaseChange,
    KnobChange,
    OwnedServerChange,
    RestartChange,
    SchemaChange,
    SettingChange,
    VariantChange,
)
from pgassay.spec.server.access import SettingsAt

SCHEMA = "pgassay"
DROP_SCHEMA = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(SCHEMA))
PATH = sql.SQL("SET LOCAL search_path = {}, public").format(sql.Identifier(SCHEMA))
"""Before the undo of every variant: its names are looked up where the SQL made them."""
RELOAD = "SELECT pg_reload_conf()"

# PostgreSQL's own list (pg_dump's variable_is_guc_list_quote): each element is an identifier.
LIST_OF_NAMES = frozenset(
    {
        "local_preload_libraries",
        "search_path",
        "session_preload_libraries",
        "shared_preload_libraries",
        "temp_tablespaces",
        "unix_socket_directories",
    }
)


def undo_text(change: Change) -> str:
    """Returns what a person would run in psql, or in a shell, to undo a change."""
    match change:
        case SettingChange():
            return undo_of_setting(change).as_string(None)
        case SchemaChange():
            return DROP_SCHEMA.as_string(None)
        case DatabaseChange():
            return drop_database(change.name).as_string(None)
        case VariantChange():
            # SET LOCAL has an effect only in a transaction.
            return f"BEGIN; {PATH.as_string(None)}; {_ended(change.undo)}; COMMIT"
        case KnobChange():
            return f"echo {shlex.quote(change.found)} > {change.path}"
        case OwnedServerChange():
            return change.by_hand
        case RestartChange():
            return change.command
    raise TypeError(change.kind)


def sql_to_paste(changes: Sequence[Change], database: str) -> list[str]:
    """Returns what a person would run in psql, connected to this database, to undo changes on a
    server, given oldest first."""
    return [*_to_paste(changes, database), RELOAD]


def _to_paste(changes: Sequence[Change], database: str) -> Iterator[str]:
    for one in reversed(changes):
        if isinstance(one, RestartChange):
            continue
        text = undo_text(one)
        if isinstance(one, SchemaChange | VariantChange) and one.database != database:
            database = one.database
            # Two backslashes end psql's command: SQL follows on the same line.
            text = f"\\connect {_for_psql(database)} \\\\ {text}"
        yield text


def _for_psql(database: str) -> str:
    """As pg_dump writes it: psql takes a name with = or :// for a connection string."""
    if re.fullmatch(r"[a-z_][a-z0-9_]*", database):
        return database
    value = database.replace("\\", "\\\\").replace("'", "\\'")
    quoted = f"dbname='{value}'".replace('"', '""')
    return f'-reuse-previous=on "{quoted}"'


def undo_of_setting(change: SettingChange) -> sql.Composed:
    """Returns the statement that writes what was found."""
    alter = alter_of(change.scope, change.of)
    if change.found is None:
        return reset(change.name, alter)
    return assignment(change.name, change.found, alter)


def alter_of(scope: SettingsAt, of: str) -> sql.Composable:
    """Returns the statement up to SET or RESET."""
    if scope == "server":
        return sql.SQL("ALTER SYSTEM")
    return sql.SQL(f"ALTER {scope.upper()} {{}}").format(sql.Identifier(of))


def assignment(name: str, value: str, alter: sql.Composable) -> sql.Composed:
    """Returns the statement ALTER … SET; a list of names is given name by name, as PostgreSQL
    quotes each."""
    values = split_names(value) if name.lower() in LIST_OF_NAMES else [value]
    return sql.SQL("{} SET {} = {}").format(
        alter,
        sql.Identifier(*name.split(".")),
        sql.SQL(", ").join(sql.Literal(part) for part in values or [""]),
    )


def reset(name: str, alter: sql.Composable) -> sql.Composed:
    """Returns the statement ALTER … RESET."""
    return sql.SQL("{} RESET {}").format(alter, sql.Identifier(*name.split(".")))


def drop_database(name: str) -> sql.Composed:
    """Returns the statement that drops a database, also with sessions in it: only runs of pgassay
    connect there."""
    return sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))


def split_names(value: str) -> list[str]:
    """Splits a list setting into its elements: `"$user", public` → `$user`, `public`."""
    parts: list[str] = []
    current, quoted = "", False
    for character in value:
        if character == '"':
            quoted = not quoted
        if character == "," and not quoted:
            parts.append(current)
            current = ""
        else:
            current += character
    parts.append(current)
    return [_unquoted(part.strip()) for part in parts if part.strip()]


def _unquoted(part: str) -> str:
    if len(part) >= 2 and part[0] == part[-1] == '"':
        return part[1:-1].replace('""', '"')
    return part


def _ended(statements: str) -> str:
    """Without a last semicolon, and with a newline if it may end in a comment: an error lists
    several of these in a row."""
    text = statements.strip().rstrip(";")
    return f"{text}\n" if "--" in text else text
