"""Our role's name, in a line to paste into psql.

Enters: a session. Leaves: an identifier as PostgreSQL itself quotes it. Never: changes a thing.
"""

from __future__ import annotations

from pgassay.server.protocol import Connection


def own_role(session: Connection) -> str:
    """Quoted where it must be: a role may be called `app-user`, `user` or worse."""
    row = session.execute("SELECT pg_catalog.quote_ident(current_user)", prepare=False).fetchone()
    return str(row[0]) if row else "this_role"
