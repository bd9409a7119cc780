"""What our role may do: its name in a line to paste into psql, CHECKPOINT, writing at all.

Enters: a session; for writing one that keeps the user's settings. Leaves: an identifier as
PostgreSQL itself quotes it; yes or no; why nothing can be made there, with the fix.
Never: changes anything, or lifts the guard of a server, database or role that is read only.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import one_line
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


SETTING = "default_transaction_read_only"
NOTHING_MADE = "nothing can be made there"
_ALTER = {
    "global": "ALTER ROLE ALL RESET {name}",
    "user": "ALTER ROLE {role} RESET {name}",
    "database": "ALTER DATABASE {database} RESET {name}",
    "database user": "ALTER ROLE {role} IN DATABASE {database} RESET {name}",
}
_ELSEWHERE = {"client": "read-only-by-client", "command line": "read-only-by-start"}


def why_read_only(session: Connection, so: str = NOTHING_MADE) -> TargetRefused | None:
    """The setting, what follows and the fix; None where transactions may write."""
    row = session.execute(statement("connection/read_only"), prepare=False).fetchone()
    if row is None:
        return None
    source, file, role, database = row
    values = {"setting": SETTING, "role": role, "database": database, "so": so}
    if source in _ALTER:
        names = {"role": role, "database": database, "name": SETTING}
        parts = {key: sql.Identifier(name) for key, name in names.items()}
        made = sql.SQL(_ALTER[source]).format(**parts).as_string(session)
        return TargetRefused("read-only", **values, sql=made)
    file = file or "the configuration of the server"
    return TargetRefused(_ELSEWHERE.get(source, "read-only-by-file"), **values, file=file)


def refuse_read_only(session: Connection) -> None:
    """Raises TargetRefused where transactions of this session may write nothing."""
    if (refusal := why_read_only(session)) is not None:
        raise refusal


def explained_write(
    session: Connection, error: psycopg.Error, doing: str, so: str
) -> TargetRefused:
    """What failed in doing this; only the guard and its fix where that stopped it."""
    of_guard = isinstance(error, psycopg.errors.ReadOnlySqlTransaction)
    refusal = why_read_only(session, so) if of_guard else None
    return refusal or TargetRefused("write-failed", doing=doing, why=one_line(error))
