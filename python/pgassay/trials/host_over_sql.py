"""A server's host that only the server itself can see: its files over the connection.

Enters: a session of the server. Leaves: `HostSources` with a query, and what to grant where it is
refused. Never: reads what the role was not given.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from pgassay.target.own_role import own_role
from pgassay.target.protocol import Connection
from pgassay.target.statements import statement
from pgassay.trials.host_sources import HostSources, host_files

_READ = "SELECT pg_catalog.pg_read_file(%s, 0, 1048576, true) IS NOT NULL"
UNSEEN = (
    "nothing is known of the server's host: its processors, memory and disks are not in the report"
)


def grants(role: str) -> str:
    """What lets a role, given as an identifier, read the counters of the server's host."""
    return (
        f"GRANT pg_read_server_files TO {role}; GRANT EXECUTE ON FUNCTION"
        f" pg_read_file(text, bigint, bigint, boolean) TO {role};"
    )


def sources_over_sql(session: Connection) -> HostSources:
    """What the server can read of its host; no files, and a note, where our role may not ask."""
    found = []
    refused = ""
    for file in host_files():
        try:
            row = session.execute(_READ, (file["path"],), prepare=False).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            refused = f"name it in target.ssh (observe: --ssh), or: {grants(own_role(session))}"
            break
        except psycopg.Error:
            continue  # the kernel has the file and cannot say anything in it
        if row == (True,):
            found.append({key: file[key] for key in file if key != "needs"})
    if not found:
        why = refused or "its system has no /proc"
        return HostSources((), notes=(f"{UNSEEN}; {why}",))
    paths = [file["path"] for file in found]
    query = sql.SQL(statement("host_files").decode()).format(paths=sql.Literal(paths))
    return HostSources(tuple(found), sql=query.as_string(session))
