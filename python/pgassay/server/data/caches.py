"""The caches of server and host as a trial's warm-up finds them: warm, cold, or left alone.

Enters: a rule, a session, the directories of the data where they can be read. Leaves: a
`CacheState` that says what was done and measured.
Never: restarts a server, or claims more than was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psycopg
from psycopg import sql

from pgassay.notes import Note
from pgassay.server.hosts import page_cache
from pgassay.server.protocol import CacheState, Connection
from pgassay.server.statements import statement
from pgassay.spec.server.reset import Caches

STILL_CACHED_AT_MOST = 0.02
"""Share of the data's pages above which caches are not called cold."""


def drop_from_caches(directories: Sequence[Path]) -> CacheState:
    """Drop the host's pages of a stopped server's data, or of a database not read yet."""
    page_cache.drop(directories)
    return CacheState(
        Caches.COLD, "pages of the host dropped", page_cache.cached_share(directories)
    )


def caveat(state: CacheState | None) -> Note | None:
    """Why the caches may not be as the rule says; None if they are."""
    if state is None or state.rule is not Caches.COLD:
        return None
    share = state.cached_share
    if share is None:
        return Note("server/data/caches-unknown")
    if share <= STILL_CACHED_AT_MOST:
        return None
    return Note("server/data/not-cold", {"percent": 100.0 * share})


def outside_caveat(cached_share: float | None) -> Note | None:
    """Why a limit of the server's memory may limit less than it should; None where it does not.

    `cached_share` is that of the data in the host's cache when the server started.
    """
    if cached_share is None:
        return Note("server/data/outside-unknown")
    if cached_share <= STILL_CACHED_AT_MOST:
        return None
    return Note("server/data/outside", {"percent": 100.0 * cached_share})


def read_into_caches(
    session: Connection, directories: Sequence[Path] = (), *, by_server: bool = False
) -> CacheState:
    """Read tables and indexes: into shared buffers as far as they fit, else into the host's cache.

    `directories` are those of the data, where this user may read them; with `by_server` it is the
    server that reads, to whose memory the pages are then charged.
    """
    blocks = prewarm(session)
    if blocks is not None:
        how = f"pg_prewarm: {blocks} blocks into shared buffers"
    elif directories and not by_server:
        page_cache.read(directories)
        how = "files read into the host's cache; there is no pg_prewarm for shared buffers"
    else:
        scan_tables(session)
        how = "tables read in sequence, indexes not; there is no pg_prewarm in this database"
    share = page_cache.cached_share(directories) if directories else None
    return CacheState(Caches.WARM, how, share, blocks)


def prewarm(session: Connection) -> int | None:
    """Blocks read into shared buffers; None without pg_prewarm, or the right to use it.

    Relations come smallest first, until shared buffers are full; the rest goes to the host's cache.
    """
    if session.execute(statement("data/prewarm_schema")).fetchone() is None:
        return None
    room = _one(session, "data/shared_buffers_blocks")
    used = 0
    for oid, blocks in session.execute(statement("data/warm_relations")).fetchall():
        mode = "buffer" if used + blocks <= room else "read"
        used += blocks if mode == "buffer" else 0
        try:
            session.execute(_prewarm_call(session), (oid, mode))
        except psycopg.errors.InsufficientPrivilege:
            return None
    return used


def scan_tables(session: Connection) -> None:
    """Reads each table of the workload from its beginning to its end."""
    with session.transaction():
        session.execute(statement("data/scan_in_sequence"))
        for schema, name in session.execute(statement("data/warm_tables")).fetchall():
            table = sql.Identifier(schema, name)
            session.execute(sql.SQL("SELECT count(*) FROM ONLY {}").format(table))


def _prewarm_call(session: Connection) -> sql.Composed:
    row = session.execute(statement("data/prewarm_schema")).fetchone()
    function = sql.Identifier(row[0] if row else "public", "pg_prewarm")
    return sql.SQL("SELECT {}(%s::oid::regclass, %s)").format(function)


def _one(session: Connection, name: str) -> int:
    row = session.execute(statement(name)).fetchone()
    return int(row[0]) if row else 0
