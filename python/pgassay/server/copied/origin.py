"""The data of an owned server, from a base backup of an existing one.

Enters: the existing server's connection string, accepted signs of production, `target.bin`, the
versions or builds that copies run with. Leaves: a data directory with that server's data and
settings, and sessions of the same user in the same database.
Never: changes the existing server, or lets the copy reach its neighbours: by settings and libraries
(left_out.toml), foreign servers or subscriptions (upgrade.py). Functions that open connections of
their own (dblink, http, untrusted languages) are named, and not kept from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

from psycopg import sql

from pgassay.notes import Note
from pgassay.refusals.refusal import opened
from pgassay.server.connection.session import Work, as_target_error, connect
from pgassay.server.copied.base_backup import BaseBackup
from pgassay.server.copied.source import (
    Source,
    collations_in,
    extensions_in,
    find_source,
    other_versions,
)
from pgassay.server.copied.upgrade import Upgrade, cut_off, update_extensions
from pgassay.server.copied.versions import OWN_VERSION, Versions, release
from pgassay.server.data.installed_tables import search_path
from pgassay.server.data.schema import SEARCH_PATH, vacuum_schema
from pgassay.server.owned.cluster import Cluster
from pgassay.server.owned.installation import Installation
from pgassay.server.protocol import NOTHING, Connection, ConnectionParameters
from pgassay.server.undo.undo_sql import DROP_SCHEMA, SCHEMA
from pgassay.spec.workload.folder import InstalledTables

_ROLES = ("pg_monitor", "pg_read_all_data", "pg_write_all_data")
_HAS_ALL_DATA = 140000
"""The version from which there are roles for all data."""


def copies_of(servers: int, schema_variants: int, *, side_by_side: bool = False) -> int:
    """Returns how many copies of the data the disk must hold: data directories and what they are
    put back from, which servers side by side share; several servers share a backup as well."""
    frozen = 1 if side_by_side else servers
    return servers + frozen + schema_variants + (servers > 1)


class ServerCopy:
    """A copy of one existing server, for one owned server or for several with the same data."""

    def __init__(
        self,
        dsn: str,
        *,
        accept: Collection[str] = (),
        bin_directory: Path | None = None,
        servers: int = 1,
        schema_variants: int = 0,
        side_by_side: bool = False,
        overrides: Mapping[str, str] = NOTHING,
        installed: InstalledTables | None = None,
        versions: Versions = OWN_VERSION,
        backup: Sequence[str] = (),
    ) -> None:
        """`overrides` replace settings of the original from the first start on: this host may have
        less memory than the original's. `backup` are options of pg_basebackup."""
        self._overrides = overrides
        self._path = SEARCH_PATH if installed is None else search_path(installed)
        self._dsn = dsn
        self._accept = frozenset(accept)
        self._bin = bin_directory
        self._versions = versions
        self._copies = copies_of(servers, schema_variants, side_by_side=side_by_side)
        self._backup = BaseBackup(shared=servers > 1, options=backup)
        self._looked: dict[str, Source] = {}
        """The server as it was found, for the copies of all levels."""
        self._kept: dict[str, tuple[Path, tuple[Note, ...]]] = {}
        """Release → files of a level that others start from, and what was left out of them."""
        self._level = ""
        self._notes: tuple[Note, ...] = ()

    def at(self, level: str) -> ServerCopy:
        """Returns the copy of one level of `versions`; those of all levels share a base backup."""
        one = copy(self)
        one._level = level
        return one

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self._source.caveats(self._level), *self._notes)

    def installation(self) -> Installation:
        if not self._looked:
            self._looked[self._dsn] = find_source(
                self._dsn,
                accept=self._accept,
                bin_directory=self._bin,
                copies=self._copies,
                versions=self._versions,
            )
        return self._source.programs[self._level]

    def make(self, cluster: Cluster) -> None:
        source = self._source
        programs = source.programs[self._level]
        settings = {**source.carried(programs).settings, **self._overrides}
        cluster.discard()
        if kept := self._kept.get(release(programs)):
            files, self._notes = kept
            cluster.thaw(files)
            cluster.take_over(settings)
            return
        self._backup.place(source.installation, source.parameters, cluster.workspace)
        self._notes = ()
        if source.changes_files(self._level):
            self._notes = Upgrade(cluster, source, settings, self._overrides).run()
        else:
            cluster.take_over(settings)
        if source.changes_some:
            self._analyse(cluster)
        if len(source.like(self._level)) > 1:
            files = cluster.freeze(cluster.workspace.upgraded)
            self._kept[release(programs)] = files, self._notes

    def _analyse(self, cluster: Cluster) -> None:
        """Makes statistics in the same way on all levels."""
        cluster.start()
        with (
            as_target_error("statistics of the copy"),
            connect(
                self.for_control(cluster), work=Work.OWN_CHANGES, statement_limit_s=0
            ) as session,
        ):
            dumped = self._versions.how == "dump"
            session.execute("VACUUM (ANALYZE)" if dumped else "ANALYZE")
        cluster.stop(gently=True)

    def complete(self, cluster: Cluster) -> None:
        """No way to other servers; the workload's schema, leave for the user to see what samplers
        look at, and extensions as the programs of this copy have them."""
        if self._source.changes_files(self._level):
            update_extensions(cluster, self._source)
        cut_off(cluster, self._source)
        user = sql.Identifier(self._source.parameters.user)
        schema = sql.Identifier(SCHEMA)
        with (
            as_target_error(f"making the schema {SCHEMA} in the copy"),
            connect(
                self.for_control(cluster), work=Work.OWN_CHANGES, statement_limit_s=0
            ) as session,
        ):
            self._notes += tuple(self._other_versions(session))
            session.execute(DROP_SCHEMA)
            create = "CREATE SCHEMA {} AUTHORIZATION {}"
            session.execute(sql.SQL(create).format(schema, user))
            if self._source.parameters.user != self._source.superuser:
                # Who takes a base backup can read all of it; the statements may be of other roles.
                every = session.info.server_version >= _HAS_ALL_DATA
                roles = sql.SQL(", ").join(map(sql.Identifier, _ROLES if every else _ROLES[:1]))
                session.execute(sql.SQL("GRANT {} TO {}").format(roles, user))

    def _other_versions(self, session: Connection) -> Iterator[Note]:
        if names := other_versions(self._source.extensions, extensions_in(session)):
            yield Note.of("server/copied/extensions-of-other-versions", names=names)
        if names := other_versions(self._source.collations, collations_in(session)):
            yield Note.of("server/copied/sorted-otherwise", names=names)

    def for_load(self, cluster: Cluster) -> ConnectionParameters:
        source = self._source.parameters
        here = cluster.parameters(source.dbname)
        return replace(
            here,
            user=source.user,
            options=source.options,
            startup={**source.startup, **self._path},
            client_encoding=source.client_encoding,
        )

    def for_control(self, cluster: Cluster) -> ConnectionParameters:
        here = cluster.parameters(self._source.parameters.dbname)
        return replace(here, user=self._source.superuser, startup=self._path)

    def vacuum(self, session: Connection) -> None:
        """Vacuums the workload's tables alone: the others stay as they are on the source."""
        vacuum_schema(session)

    @property
    def _source(self) -> Source:
        return opened(self._looked.get(self._dsn))
