"""Where the data directory of an owned server comes from.

Enters: an installation; a superuser's session. Leaves: the `DataOrigin` protocol, and `NewCluster`:
an empty cluster made by initdb; the extensions that the samplers read, as far as the server has
them. Never: starts a server (`OwnedTarget` does, between `make` and `complete`), or asks for an
extension that the installation lacks, or whose library had to be preloaded.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import replace
from typing import Protocol

from psycopg import sql

from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import Work, as_target_error, connect, user_path
from pgassay.server.owned.cluster import DATABASE, Cluster
from pgassay.server.owned.installation import Installation
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement

LIMITED_ROLE = "pgassay_load"
"""As limited_role.sql has it."""
STATEMENTS = "pg_stat_statements"
WAL_TIMING_FROM = 140000


class DataOrigin(Protocol):
    """How a data directory is made, and how sessions reach the server on it."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Caveats of the data, which are known after `complete`."""
        ...

    def installation(self) -> Installation:
        """The programs that run the server."""
        ...

    def make(self, cluster: Cluster) -> None:
        """Makes the data directory with its configuration; the server is down."""
        ...

    def complete(self, cluster: Cluster) -> None:
        """Makes, on the server's first start, what the workload is built in."""
        ...

    def for_load(self, cluster: Cluster) -> ConnectionParameters:
        """Returns how the load, the samplers and the building of the data connect."""
        ...

    def for_control(self, cluster: Cluster) -> ConnectionParameters:
        """Returns how a superuser connects to the same database."""
        ...

    def vacuum(self, session: Connection) -> None:
        """Runs VACUUM (FREEZE, ANALYZE) on what the workload has built."""
        ...


class NewCluster:
    """An empty cluster with one database, whose settings hide nothing that the server can show."""

    notes: tuple[Note, ...] = ()

    def __init__(
        self, installation: Installation, *, counts_statements: bool = True, limited: bool = False
    ) -> None:
        """`counts_statements`: by pg_stat_statements, where the installation has it. `limited`: all
        SQL of the workload runs as a role that owns its database and has no rights outside of it:
        it can run no program and read or write no file of the server's account."""
        self._installation, self._limited = installation, limited
        self._counts_statements = counts_statements and has_statements(installation)

    def installation(self) -> Installation:
        return self._installation

    def make(self, cluster: Cluster) -> None:
        shown = {"track_io_timing": "on"}
        if self._installation.version_num >= WAL_TIMING_FROM:
            shown["track_wal_io_timing"] = "on"
        if self._counts_statements:
            shown["shared_preload_libraries"] = STATEMENTS
        cluster.create(shown)

    def complete(self, cluster: Cluster) -> None:
        name = sql.Identifier(DATABASE)
        with (
            as_target_error("making the database"),
            connect(
                cluster.parameters("postgres"), work=Work.OWN_CHANGES, statement_limit_s=0
            ) as session,
        ):
            session.execute(sql.SQL("CREATE DATABASE {}").format(name))
        if self._limited:
            with (
                as_target_error("making the workload's role"),
                connect(
                    cluster.parameters(), work=Work.OWN_CHANGES, statement_limit_s=0
                ) as session,
            ):
                session.execute(statement("data/limited_role"))
                create_extensions(session, PREWARM, path_is_set=True)

    def for_load(self, cluster: Cluster) -> ConnectionParameters:
        found = cluster.parameters()
        return replace(found, user=LIMITED_ROLE) if self._limited else found

    def for_control(self, cluster: Cluster) -> ConnectionParameters:
        # Functions and operators that the workload's role makes must not be found by a superuser.
        found = cluster.parameters()
        return replace(found, options="-c search_path=") if self._limited else found

    def vacuum(self, session: Connection) -> None:
        refuse_tablespaces(session)
        session.execute("VACUUM (FREEZE, ANALYZE)")


def has_statements(installation: Installation) -> bool:
    """Returns whether servers of an installation can count statements (pg_stat_statements)."""
    return installation.has_library(STATEMENTS)


def refuse_tablespaces(session: Connection) -> None:
    """Refuse data that a copy of the data directory would share instead of freeze."""
    row = session.execute(statement("existing/tablespaces_outside")).fetchone()
    if row is not None:
        raise TargetRefused("tablespace-outside", place=row[0])


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
