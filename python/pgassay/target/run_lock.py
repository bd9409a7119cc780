"""One run at a time on an existing server.

Enters: a control session that lives as long as the run. Leaves: the lock held by that session, or
a TargetError that names the holder. Never: outlives its session, so a killed run blocks nobody.
"""

from __future__ import annotations

from pgassay.errors import TargetError
from pgassay.target.protocol import Connection
from pgassay.target.statements import statement

# "pgas", "say!" as two int4; fixed for all versions of pgassay.
KEYS = (0x70676173, 0x73617921)


def take(session: Connection) -> None:
    """Hold the server for this run."""
    row = session.execute("SELECT pg_try_advisory_lock(%s::int, %s::int)", KEYS).fetchone()
    got = bool(row and row[0])
    # Seen after ours is taken: of two that come at once, in two databases, neither misses both.
    holder = session.execute(statement("other_runs"), KEYS).fetchone()
    if got and holder is None:
        return
    if got:
        session.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", KEYS)
    who = f" (process {holder[0]}, database {holder[1]}, user {holder[2]})" if holder else ""
    raise TargetError(
        f"another pgassay run is using this server{who}; wait for it to end, or end it"
    )
