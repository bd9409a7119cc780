"""What the data of a server are, row by row, so that those of two servers can be compared.

Enters: a target whose data are built. Leaves: for each table its rows and a checksum of them that
does not depend on their order. Never: judges; `unlike` says what differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psycopg import sql

from pgassay.target.protocol import Target
from pgassay.target.session import connect, told_as_target_error
from pgassay.target.statements import statement


def contents_of(target: Target) -> dict[str, Any]:
    """Table → rows and checksum, of every table the workload made."""
    found = {}
    with (
        told_as_target_error("reading the data"),
        connect(target.parameters(), statement_limit_s=0) as session,
    ):
        for schema, table in session.execute(statement("workload_tables")).fetchall():
            query = sql.SQL(statement("table_contents").decode()).format(
                sql.Identifier(schema, table)
            )
            row = session.execute(query).fetchone()
            if row is not None:
                found[f"{schema}.{table}"] = {"rows": row[0], "checksum": row[1]}
    return found


def unlike(dataset: str, by_server: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each table whose rows are not those of the first server."""
    (first, expected), *others = by_server.items()
    for server, found in others:
        for table in sorted({*expected, *found}):
            if expected.get(table) != found.get(table):
                yield (
                    f"{dataset}: the rows of {table} are not the same on {server} as on {first};"
                    " make data.sql the same each time (no random(), no volatile defaults)"
                )
