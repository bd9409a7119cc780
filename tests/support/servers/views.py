"""The rows that a query of the samplers returns on a server.

Enters: a session, the name of a query. Leaves: its rows. Never: runs the query twice.
"""

from __future__ import annotations

from typing import Any

from pgassay.server.protocol import Connection
from pgassay.trials.sampling.queries import extensions_in, queries_for


def rows_of(session: Connection, name: str) -> list[dict[str, Any]]:
    """The rows of the variant of the query for this version."""
    sql = queries_for(session.info.server_version)[name].sql_with(extensions_in(session))
    assert sql is not None
    cursor = session.execute(sql.encode())
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]
