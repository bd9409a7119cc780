"""Our role: its name in a line to paste into psql, and whether it may CHECKPOINT.

Enters: a session. Leaves: an identifier as PostgreSQL itself quotes it; yes or no.
Never: changes anything.
"""

from __future__ import annotations

from pgassay.server.protocol import Connection
from pgassay.server.statements import statement


def own_role(session: Connection) -> str:
    """Returns the name of the session's role as SQL takes it, quoted where it must be."""
    row = session.execute("SELECT pg_catalog.quote_ident(current_user)", prepare=False).fetchone()
    return str(row[0]) if row else "this_role"


def may_checkpoint(session: Connection) -> bool:
    """Returns whether the session's role may run CHECKPOINT: as a superuser, or from version 15 on
    as a member of pg_checkpoint."""
    row = session.execute(statement("existing/may_checkpoint")).fetchone()
    return row is not None and bool(row[0])
