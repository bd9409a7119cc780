"""The extensions that an owned server's database gets beside the workload's own.

Enters: a superuser's session. Leaves: what the samplers read, created as far as the server has it.
Never: asks for an extension that the installation lacks, or whose library had to be preloaded.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext

from psycopg import sql

from pgassay.server.connection.session import user_path
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

SAMPLED = ("pg_buffercache",)
PRELOADED = ("pg_stat_statements", "pg_wait_sampling")
"""Sampled as well, but only where the server loaded their library at its start."""
PREWARM = ("pg_prewarm",)


def create_extensions(
    session: Connection, others: Collection[str] = (), *, path_is_set: bool = False
) -> None:
    """Creates the extensions that the samplers read, and others, in the first schema of the user's
    search path; with `path_is_set` in that of the session's."""
    wanted = {"wanted": [*SAMPLED, *others], "preloaded": [*PRELOADED]}
    with nullcontext() if path_is_set else user_path(session):
        for (name,) in session.execute(statement("data/extensions_to_create"), wanted).fetchall():
            session.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(name)))
