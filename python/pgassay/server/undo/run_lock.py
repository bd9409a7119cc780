"""One run at a time on an existing server.

Enters: a control session that lives as long as the run. Leaves: the lock held by that session, or
a TargetError that names the holder. Never: outlives its session, so a killed run blocks nobody.
"""

from __future__ import annotations

import time

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import as_target_error
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

# "pgas", "say!" as two int4; fixed for all versions of pgassay.
KEYS = (0x70676173, 0x73617921)
_PATIENCE_S = 2.0
"""The backend of a run that has just ended holds the lock until it has noticed."""
_POLL_S = 0.1


class _InUse(TargetRefused):
    """Another run holds the lock."""


def take(session: Connection) -> None:
    """Takes the run lock of the server; raises TargetError where another run keeps it."""
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            with as_target_error("taking the run lock"):
                _take(session)
        except _InUse:
            if time.monotonic() > end:
                raise
            time.sleep(_POLL_S)
        else:
            return


def _take(session: Connection) -> None:
    row = session.execute("SELECT pg_try_advisory_lock(%s::int, %s::int)", KEYS).fetchone()
    got = bool(row and row[0])
    # Seen after ours is taken: of two that come at once, in two databases, neither misses both.
    try:
        refuse_other_runs(session)
    except _InUse:
        if got:
            session.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", KEYS)
        raise
    if not got:
        raise _InUse("server-in-use")


def refuse_other_runs(session: Connection) -> None:
    """Raises TargetError where another session holds the run lock."""
    holder = session.execute(statement("existing/other_runs"), KEYS).fetchone()
    if holder is not None:
        process, database, user = holder
        raise _InUse("server-in-use-by", process=process, database=database, user=user)
