"""Tables that were on the server before the run, whose workload makes none of its own.

Enters: a session, the names of tables and schemas. Leaves: the search path of sessions; a
TargetError where tables are missing or closed; after `vacuum_installed` the tables vacuumed.
Never: makes, fills or drops a table.
"""

from __future__ import annotations

from typing import NamedTuple

import psycopg
from psycopg import sql

from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import as_target_error, one_line, user_path
from pgassay.server.data.schema import warnings_noted
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.spec.workload.folder import InstalledTables


class _Found(NamedTuple):
    """What a session finds under a name."""

    name: str
    relation: str | None
    is_readable: bool
    is_table: bool
    is_unlogged: bool


def search_path(installed: InstalledTables) -> dict[str, str]:
    """Returns the settings with which a session finds the tables; empty for the user's own search
    path."""
    return {"search_path": _path(installed)} if installed.schemas else {}


def refuse_missing(
    session: Connection, installed: InstalledTables, *, copied: bool = False
) -> None:
    """Raises TargetError where a table is missing, closed to this user, or empty because the server
    is `copied`; in a session of any search path."""
    missing, closed, unlogged = [], [], []
    where = f"database {session.info.dbname}"
    with user_path(session), session.transaction():
        if installed.schemas:
            where = f"{', '.join(installed.schemas)} of {where}"
            session.execute(
                "SELECT pg_catalog.set_config('search_path', %s, true)", (_path(installed),)
            )
        for table in installed.tables:
            try:
                with session.transaction():
                    found = _found(session, [table])[0]
            except psycopg.Error as error:  # such as a schema that is closed to this user
                raise TargetRefused(
                    "table-unreadable", f"workload.toml, tables: {table}", why=one_line(error)
                ) from None
            if found.relation is None:
                missing.append(table)
            elif not found.is_readable:
                closed.append(table)
            elif found.is_unlogged and copied:
                unlogged.append(table)
    if missing:
        raise TargetRefused(
            "tables-missing", f"workload.toml, tables: {', '.join(missing)}", where=where
        )
    if closed:
        names, user = ", ".join(closed), session.info.user
        raise TargetRefused(
            "tables-closed",
            "workload.toml, tables",
            user=user,
            names=names,
            where=where,
            role=sql.Identifier(user).as_string(session),
        )
    if unlogged:
        raise TargetRefused(
            "tables-unlogged", f"workload.toml, tables: {', '.join(unlogged)}", where=where
        )


def vacuum_installed(session: Connection, installed: InstalledTables) -> list[Note]:
    """Runs VACUUM (FREEZE, ANALYZE) on the tables, in a session of their search path; returns what
    the server warned of."""
    with (
        as_target_error("VACUUM before a trial"),
        warnings_noted(session) as notes,
        user_path(session),
    ):
        found = _found(session, list(installed.tables))
        names = [one.relation for one in found if one.relation and one.is_table]
        if names:  # as regclass shows them: quoted where they need it
            session.execute(f"VACUUM (FREEZE, ANALYZE) {', '.join(names)}".encode())
    return notes


def _found(session: Connection, tables: list[str]) -> list[_Found]:
    rows = session.execute(statement("data/installed_tables"), (tables,)).fetchall()
    return [_Found(*row) for row in rows]


def _path(installed: InstalledTables) -> str:
    return ",".join('"' + name.replace('"', '""') + '"' for name in installed.schemas)
