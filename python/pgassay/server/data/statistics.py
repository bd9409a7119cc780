"""A schema variant on data that are thrown away, and the statistics that it needs.

Enters: a superuser's session, how the workload's user connects, the variant's SQL. Leaves: it is
run; analysed is what it has made, rewritten or filled, and what it asks other statistics of.
Never: analyses another table: each ANALYZE draws a sample of its own, so plans could differ between
arms by chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from psycopg import sql

from pgassay.server.connection.session import for_sql
from pgassay.server.data.schema_variants import run_parts
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement

_FLUSHES_FROM = 150000


class _TableState(NamedTuple):
    """What a table is like at one moment."""

    schema: str
    name: str
    is_partitioned: bool
    rows: str
    """Differs where the table was rewritten, or its rows changed."""
    kept: Sequence[str]
    """What ANALYZE keeps statistics of, and how many."""


_NEW = _TableState("", "", is_partitioned=False, rows="", kept=())


def run_and_analyse(
    parameters: ConnectionParameters, control: Connection, parts: Mapping[str, str]
) -> float:
    """Runs the parts of a variant as the user of `parameters`, and as that of `control` VACUUM
    (FREEZE, ANALYZE) on tables whose rows are others than before, and ANALYZE where only other
    statistics are asked of the same rows; returns how long the parts took (s)."""
    before = _states(control)
    with for_sql(parameters) as session:
        took_s = run_parts(session, parts)
        if session.info.server_version >= _FLUSHES_FROM:
            # Before, others see how many rows a session has changed after its end.
            session.execute("SELECT pg_catalog.pg_stat_force_next_flush()", prepare=False)
    vacuumed, analysed = [], []
    for oid, now in _states(control).items():
        was = before.get(oid, _NEW)
        name = sql.Identifier(now.schema, now.name)
        if now.rows != was.rows and not now.is_partitioned:
            vacuumed.append(name)
        elif set(now.kept) - set(was.kept):
            analysed.append(name)
    for command, names in (("VACUUM (FREEZE, ANALYZE) {}", vacuumed), ("ANALYZE {}", analysed)):
        if names:
            control.execute(sql.SQL(command).format(sql.SQL(", ").join(names)))
    return took_s


def _states(session: Connection) -> dict[int, _TableState]:
    """All tables of the database by their oid."""
    rows = session.execute(statement("data/statistics_of_tables"), prepare=False).fetchall()
    return {oid: _TableState(*state) for oid, *state in rows}
