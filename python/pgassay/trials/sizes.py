"""How large a database's tables and indexes are before anything is measured.

Enters: a session. Leaves: what environment.json has of it. Never: looks at more than some thousand
relations, or fails where it may not look: then the reason is told.
"""

from __future__ import annotations

from typing import Any

import psycopg

from pgassay.target.protocol import Connection
from pgassay.target.statements import statement

MOST_RELATIONS = 50


def sizes_of(session: Connection) -> dict[str, Any]:
    """The whole of the database, and its largest relations."""
    told: dict[str, Any] = {"database": session.info.dbname}
    for query, read in (("database_size", _whole), ("relation_sizes", _relations)):
        try:
            told |= read(session, query)
        except psycopg.Error as error:
            # Refused, or locked by somebody, or too large for the time that a reading may take.
            told["reason"] = str(error).splitlines()[0]
            session.rollback()
    return told


def _whole(session: Connection, query: str) -> dict[str, Any]:
    row = session.execute(statement(query), prepare=False).fetchone()
    return {} if row is None else {"total_bytes": row[0]}


def _relations(session: Connection, query: str) -> dict[str, Any]:
    rows = session.execute(statement(query), (MOST_RELATIONS,), prepare=False)
    names = ("schema", "name", "kind", "size_bytes")
    return {"largest": [dict(zip(names, row, strict=True)) for row in rows]}
