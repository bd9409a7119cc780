"""How large a database's tables and indexes are before anything is measured.

Enters: a session. Leaves: what environment.json has of it. Never: looks at more than some thousand
relations, or fails where it lacks a privilege: then the reason is stored.
"""

from __future__ import annotations

from typing import Any

import psycopg

from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

MOST_RELATIONS = 50


def sizes_of(session: Connection) -> dict[str, Any]:
    """Returns the size of the database of a session and of its largest relations, in bytes."""
    found: dict[str, Any] = {"database": session.info.dbname}
    for query, read in (("trials/database_size", _whole), ("trials/relation_sizes", _relations)):
        try:
            found |= read(session, query)
        except psycopg.Error as error:
            # Refused, locked by another session, or too large for the time that a reading may take.
            found["reason"] = str(error).splitlines()[0]
            session.rollback()
    return found


def _whole(session: Connection, query: str) -> dict[str, Any]:
    row = session.execute(statement(query), prepare=False).fetchone()
    return {} if row is None else {"total_bytes": row[0]}


def _relations(session: Connection, query: str) -> dict[str, Any]:
    rows = session.execute(statement(query), (MOST_RELATIONS,), prepare=False)
    names = ("schema", "name", "kind", "size_bytes")
    return {"largest": [dict(zip(names, row, strict=True)) for row in rows]}
