"""Vacuum pgbench's tables before a run, as pgbench does.

Enters: where to connect. Leaves: branches and tellers vacuumed, history truncated; with -v,
accounts vacuumed and analysed too. Never: touches other tables, or fails if one is missing.
"""

from __future__ import annotations

import psycopg

from pgassay.server.connection.read_only import explained_write
from pgassay.server.connection.session import Work, connect
from pgassay.server.protocol import ConnectionParameters
from pgassay.server.statements import statement


def vacuum_pgbench_tables(parameters: ConnectionParameters, *, everything: bool) -> list[str]:
    """The statements that failed, one line each; like pgbench, the run goes on."""
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
