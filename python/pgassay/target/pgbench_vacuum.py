"""What pgbench does to its own tables before a run.

Enters: where to connect. Leaves: branches and tellers vacuumed, history emptied; with -v, accounts
vacuumed and analysed too. Never: touches another table, or fails for one that is not there.
"""

from __future__ import annotations

import psycopg

from pgassay.target.protocol import ConnectionParameters
from pgassay.target.session import connect, one_line
from pgassay.target.statements import statement


def vacuum_pgbench_tables(parameters: ConnectionParameters, *, everything: bool) -> list[str]:
    """What the server would not do, one line each; like pgbench, the run goes on regardless."""
    names = ["pgbench_vacuum", *(["pgbench_vacuum_accounts"] if everything else [])]
    refused = []
    with connect(parameters, statement_limit_s=0, through_pooler=True) as session:
        for name in names:
            for line in statement(name).decode().splitlines():
                if line.startswith("--"):
                    continue
                try:
                    session.execute(line.encode())
                except psycopg.errors.UndefinedTable:
                    continue
                except psycopg.Error as error:
                    refused.append(f"{line.rstrip(';')}: {one_line(error)}")
    return refused
