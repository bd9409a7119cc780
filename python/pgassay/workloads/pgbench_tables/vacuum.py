"""Before a load: finds the scale of pgbench's tables and vacuums them, as pgbench does.

Enters: where to connect. Leaves: the number of branches; branches and tellers vacuumed, history
truncated; with -v, accounts vacuumed and analysed too. Never: touches other tables.
"""

from __future__ import annotations

import psycopg

from pgassay.errors import TargetError
from pgassay.server.connection.read_only import explained_write
from pgassay.server.connection.session import Work, connect
from pgassay.server.protocol import ConnectionParameters
from pgassay.server.statements import statement


def pgbench_scale(parameters: ConnectionParameters) -> int:
    """Returns the scale of pgbench's tables, which is the number of rows in pgbench_branches;
    raises TargetError without any."""
    with connect(parameters, through_pooler=True, keeps_path=True) as session:
        try:
            row = session.execute(statement("pgbench/scale")).fetchone()
        except psycopg.errors.UndefinedTable:
            row = None
        except psycopg.Error as error:
            raise TargetError(
                f"pgbench_branches cannot be read: {error.diag.message_primary}"
            ) from None
    if row is None or not row[0]:
        raise TargetError(
            f"{parameters.label}: pgbench's tables are missing or empty; make them with"
            " `pgassay init`"
        )
    return int(row[0])


def vacuum_pgbench_tables(parameters: ConnectionParameters, *, everything: bool) -> list[str]:
    """Vacuums pgbench's tables; returns the statements that failed, one line each, for like pgbench
    the run goes on."""
    names = ["pgbench/vacuum_before_run", *(["pgbench/vacuum_accounts"] if everything else [])]
    refused = []
    with connect(
        parameters, work=Work.AS_THE_USER, statement_limit_s=0, through_pooler=True, keeps_path=True
    ) as session:
        for name in names:
            for line in statement(name).decode().splitlines():
                if line.startswith("--"):
                    continue
                try:
                    session.execute(line.encode())
                except psycopg.errors.UndefinedTable:
                    continue
                except psycopg.Error as error:
                    doing = line.rstrip(";")
                    refused.append(explained_write(session, error, doing, f"{doing} failed"))
    return refused
