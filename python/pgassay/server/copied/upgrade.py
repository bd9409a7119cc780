"""Brings a copy of a server to other programs: by pg_upgrade, or by a dump that is restored.

Enters: a cluster whose data directory is a base backup; what was found on the server that it is of.
Leaves: a data directory of the cluster's own version with the same databases, shut down in order; a
note where options of columns were left out. Never: touches the server that was copied, or keeps
what it made on the way.

The copy is started once with the programs of its own version, because a base backup has to be
recovered. Options of columns that the other programs do not know are taken away then: some minor
releases keep marks of their own there, at which pg_upgrade and pg_restore of others break off.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import Work, as_target_error, connect
from pgassay.server.copied.source import Source
from pgassay.server.copied.versions import takes
from pgassay.server.hosts.account import clean_environment, last_line
from pgassay.server.owned.cluster import COPY_LIMIT_S, PORT, Cluster
from pgassay.server.owned.installation import Installation
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

JOBS = f"--jobs={min(8, os.cpu_count() or 1)}"
NO_SYNC_FROM = 15
ALWAYS_THERE = ("template0", "template1")
_INSIDE = 'cd "$1" && shift && exec "$@"'
"""Shell: run a command in a directory."""


@dataclass(frozen=True)
class Upgrade:
    """One data directory on its way to the programs of its cluster."""

    cluster: Cluster
    source: Source
    settings: Mapping[str, str]
    """Of the finished copy."""
    overrides: Mapping[str, str]
    """Those of them that replace the server's own, also on the way."""

    def run(self) -> tuple[Note, ...]:
        """Replaces the data directory; returns notes on what was left out."""
        by_dump = self.source.versions.how == "dump"
        old = self._recovered()
        try:
            databases = self._databases(old)
            dropped = {name for one in databases for name in self._drop_unknown(old, one)}
            restored = [one for one in databases if one not in ALWAYS_THERE]
            roles = self._dump(restored) if by_dump else ""
        finally:
            old.stop(gently=True)
        if by_dump:
            self._restore(restored, roles)
        else:
            self._upgrade(old.installation)
        names = tuple(sorted(dropped))
        return (Note.of("server/copied/options-dropped", names=names),) if names else ()

    def _recovered(self) -> Cluster:
        """The copy as it is, run by the programs of its own version."""
        programs = self.source.installation
        account = self.cluster.workspace.account
        old = replace(self.cluster, installation=runnable_by(programs, account))
        overrides = {n: v for n, v in self.overrides.items() if takes(programs, n, v)}
        old.take_over({**self.source.carried(programs).settings, **overrides})
        old.start()
        return old

    def _databases(self, old: Cluster) -> list[str]:
        here = replace(old.parameters(self.source.parameters.dbname), user=self.source.superuser)
        with as_target_error("looking at the copy"), connect(here) as session:
            return databases_of(session)

    def _drop_unknown(self, old: Cluster, database: str) -> list[str]:
        """Takes away, in one database, the options of columns that the new programs do not know."""
        here = replace(old.parameters(database), user=self.source.superuser)
        with (
            as_target_error("looking at options of columns in the copy"),
            connect(here, work=Work.OWN_CHANGES, statement_limit_s=0) as session,
        ):
            found = session.execute(statement("data/column_options")).fetchall()
            unknown = [
                name
                for (name,) in found
                if not self.cluster.installation.names(name.encode() + b"\0")
            ]
            if unknown:
                session.execute("SET allow_system_table_mods = on")
                session.execute(statement("data/column_options_dropped"), {"unknown": unknown})
            return unknown

    def _upgrade(self, own: Installation) -> None:
        new, space = self.cluster.installation, self.cluster.workspace
        space.account.require(["rm", "-rf", space.old], limit_s=COPY_LIMIT_S)
        space.account.require(["mv", space.data, space.old], limit_s=COPY_LIMIT_S)
        self._make_files()
        # Links: the files of the copy become those of the new data directory.
        options: list[str | Path] = [
            "--link", JOBS, "-U", self.source.superuser, "-b", own.bin_directory, "-B",
            new.bin_directory, "-d", space.old, "-D", space.data, "-p", str(PORT), "-P", str(PORT),
            "--socketdir", space.socket_directory,
        ]  # fmt: skip
        if new.major >= NO_SYNC_FROM:
            options.append("--no-sync")  # the snapshot that is taken of the data sees to it
        result = self._inside("pg_upgrade", options, own.libraries)
        if result.returncode != 0:
            self._refuse("pg-upgrade-failed", _said_by_pg_upgrade(result))
        space.account.require(["rm", "-rf", space.old], limit_s=COPY_LIMIT_S)

    def _make_files(self) -> None:
        shape, new = self.source.shape, self.cluster.installation
        self.cluster.make_files(shape.initdb_options(self.source.superuser, new))
        self.cluster.take_over(self.settings)

    def _dump(self, databases: list[str]) -> str:
        """Writes each database into a directory of its own; returns SQL that makes the roles."""
        folder = self._dumps
        self.cluster.workspace.account.require(["mkdir", "-m", "0700", folder], limit_s=60)
        for number, database in enumerate(databases):
            target = ["--format=directory", JOBS, "-f", str(folder / str(number))]
            self._required("pg_dump", [*target, "--no-sync", "-d", self._way_to(database)])
        options = ["--globals-only", "-d", self._way_to(databases[0])]
        roles = self._required("pg_dumpall", options)
        own = sql.Identifier(self.source.superuser).as_string()
        # initdb has made this one; names that take no quotes are written without.
        made = (f"CREATE ROLE {self.source.superuser};", f"CREATE ROLE {own};")
        return "".join(line for line in roles.splitlines(True) if line.strip() not in made)

    def _restore(self, databases: list[str], roles: str) -> None:
        self._make_files()
        self.cluster.start()
        try:
            self._required("psql", [*self._psql(), "-f", "-"], roles)
            for number in range(len(databases)):
                # Also of the database `postgres`, which is made anew as it was.
                options = ["--create", "--clean", "--if-exists", "--exit-on-error", JOBS]
                options += ["-d", self._way_to("template1"), str(self._dumps / str(number))]
                self._required("pg_restore", options)
        finally:
            self.cluster.stop(gently=True)
        self.cluster.workspace.account.require(["rm", "-rf", self._dumps], limit_s=COPY_LIMIT_S)

    @property
    def _dumps(self) -> Path:
        return self.cluster.workspace.directory / "dumps"

    def _way_to(self, database: str) -> str:
        host = str(self.cluster.workspace.socket_directory)
        return make_conninfo(host=host, port=PORT, user=self.source.superuser, dbname=database)

    def _psql(self) -> list[str]:
        return ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self._way_to("template1")]

    def _required(self, program: str, options: list[str], text: str | None = None) -> str:
        result = self._inside(program, options, None, text)
        if result.returncode != 0:
            self._refuse("restore-failed", _first_error(result), program=program)
        return result.stdout

    def _inside(
        self,
        program: str,
        options: list[str | Path] | list[str],
        beside: Path | None,
        text: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs one of the new programs in the directory of the copy; `beside` are libraries of
        programs that it calls."""
        new, space = self.cluster.installation, self.cluster.workspace
        surroundings = dict(os.environ)
        if beside is not None:
            surroundings = clean_environment(surroundings, beside)
        return space.account.run(
            ["sh", "-c", _INSIDE, "sh", space.directory, new.program(program), *options],
            limit_s=COPY_LIMIT_S,
            text=text,
            environment=clean_environment(surroundings, new.libraries),
        )

    def _refuse(self, code: str, said: str, **values: str) -> NoReturn:
        own, version = self.source.installation.version, self.cluster.installation.version
        raise TargetRefused(code, own=own, version=version, said=said, **values)


def databases_of(session: Connection) -> list[str]:
    """Returns the names of the databases that can be entered, without template0."""
    found = session.execute(statement("data/databases")).fetchall()
    return [name for (name,) in found if name != "template0"]


def update_extensions(cluster: Cluster, source: Source) -> None:
    """Brings the extensions of every database to the versions that the programs of a running copy
    have."""
    with as_target_error("updating extensions of the copy"):
        for session in _in_each_database(cluster, source):
            for (extension,) in session.execute(statement("data/old_extensions")).fetchall():
                update = sql.SQL("ALTER EXTENSION {} UPDATE").format(sql.Identifier(extension))
                session.execute(update)


def cut_off(cluster: Cluster, source: Source) -> None:
    """Takes from every database of a running copy what reaches other servers: handlers and users of
    foreign servers, and subscriptions. Functions that open connections of their own stay."""
    with as_target_error("cutting the copy off from other servers"):
        for session in _in_each_database(cluster, source):
            for (command,) in session.execute(statement("data/cut_off")).fetchall():
                session.execute(command.encode())


def _in_each_database(cluster: Cluster, source: Source) -> Iterator[Connection]:
    """A superuser's session in each database of a running copy, one after the other."""
    here = replace(cluster.parameters(source.parameters.dbname), user=source.superuser)
    with connect(here) as session:
        databases = databases_of(session)
    for name in databases:
        there = replace(here, dbname=name)
        with connect(there, work=Work.OWN_CHANGES, statement_limit_s=0) as session:
            yield session


def _first_error(result: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in result.stderr.splitlines()]
    return next((line for line in lines if "error:" in line.lower()), last_line(result))


def _said_by_pg_upgrade(result: subprocess.CompletedProcess[str]) -> str:
    """What stands between the check that failed and `Failure, exiting`, as one line."""
    lines = [line.strip() for line in (result.stdout + result.stderr).splitlines()]
    failed = [number for number, line in enumerate(lines) if "fatal" in line.lower()]
    if not failed:
        return last_line(result)
    said = [line for line in lines[failed[0] :] if line and line != "Failure, exiting"]
    return " ".join(" ".join(said).split())
