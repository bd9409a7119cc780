"""What a query of the samplers gives on a server.

Enters: a session, the name of a query. Leaves: its rows. Never: asks twice.
"""

from __future__ import annotations

from typing import Any

from pgassay.target.protocol import Connection
from pgassay.trials.queries import extensions_in, queries_for


def rows_of(session: Connection, name: str) -> list[dict[str, Any]]:
    """By the form of the query that is for this server."""
    sql = queries_for(session.info.server_version)[name].sql_with(extensions_in(session))
    assert sql is not None
    cursor = session.execute(sql.encode())
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]
