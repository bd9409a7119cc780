"""The versions and builds that copies of one server run with, and what keeps it from them.

Enters: a read-only session of the server; the levels of `[factors.target]`. Leaves: an
`Installation` for each level; a refusal for each thing that an upgrade would break at: an extension
or a library that the programs lack, another C library, prepared transactions. All of that is known
before anything is copied. Never: starts a server, or writes anything.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from psycopg.rows import class_row

from pgassay.errors import PgassayError, TargetError
from pgassay.refusals.refusal import Refusal, TargetRefused, opened
from pgassay.server.connection.session import connect
from pgassay.server.copied.requirements import extensions_of, programs_for
from pgassay.server.owned.installation import Installation, installation_at, installation_of
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.spec.factors.tables import Way
from pgassay.spec.settings.catalogue import CATALOGUED, entries_of, misfit

PROVIDERS = {"i": "icu", "b": "builtin"}
OF_UPGRADE = ("pg_upgrade", "pg_dump", "pg_dumpall", "pg_restore", "psql", "pg_resetwal")
OF_DUMP = ("pg_dump", "pg_dumpall", "pg_restore", "psql")


@dataclass(frozen=True)
class Versions:
    """What the copies of a run are run with."""

    of_level: Mapping[str, int | Path] = field(default_factory=dict)
    """Major version, or bin directory, by the name of the level; empty where all copies run with
    the server's own programs."""
    how: Way = "pg_upgrade"

    def programs(self, own: Installation) -> dict[str, Installation]:
        """Returns the programs of each level; `own` are those of the server that is copied."""
        if not self.of_level:
            return {"": own}
        return {
            level: own if given == own.major else _programs(given)
            for level, given in self.of_level.items()
        }

    def own(self, session: Connection, bin_directory: Path | None) -> Installation:
        """Returns the programs of the server's own version: in `bin_directory`, of a level, or
        those that it runs."""
        major = session.info.server_version // 10000
        for given in self.of_level.values() if bin_directory is None else ():
            if isinstance(given, Path) and _programs(given).major == major:
                bin_directory = given
                break
        return programs_for(session, bin_directory)

    def beside(self, own: Installation) -> int:
        """Returns how many copies of the data lie beside those of the servers: a dump while it is
        restored, and one for each release that several levels run."""
        programs = [*self.programs(own).values()]
        if not any(self.changes_files(one, own) for one in programs):
            return 0
        shared = Counter(map(release, programs))
        return (self.how == "dump") + sum(count > 1 for count in shared.values())

    def changes_files(self, programs: Installation, own: Installation) -> bool:
        """Returns whether the copy of a level is more than the files of the server."""
        return bool(self.of_level) and (self.how == "dump" or programs.major != own.major)


OWN_VERSION = Versions()
"""All copies run with the programs of the server itself."""


def _programs(given: int | Path) -> Installation:
    try:
        return installation_of(given) if isinstance(given, int) else installation_at(given)
    except Refusal as refusal:
        if isinstance(given, int):
            raise TargetRefused("no-programs-of-a-version", major=given) from None
        raise refusal.at("factors.target.bin") from None


@dataclass(frozen=True)
class ClusterShape:
    """What a new data directory must agree in with that of the server."""

    encoding: str
    lc_collate: str
    lc_ctype: str
    provider: str
    locale: str | None
    checksums: bool
    wal_segment_mb: int
    prepared: int
    databases: list[str]
    libc: str | None
    """Version of the C library that the server orders text by, where it does."""

    def initdb_options(self, superuser: str, programs: Installation) -> list[str]:
        """Returns the options that make an empty data directory of this shape."""
        options = ["-U", superuser, f"--encoding={self.encoding}"]
        options += [f"--lc-collate={self.lc_collate}", f"--lc-ctype={self.lc_ctype}"]
        options += [f"--wal-segsize={self.wal_segment_mb}"]
        if (name := PROVIDERS.get(self.provider)) is not None:
            options += [f"--locale-provider={name}", f"--{name}-locale={self.locale}"]
        if self.checksums:
            options.append("--data-checksums")
        elif programs.major >= CHECKSUMS_FROM:
            options.append("--no-data-checksums")
        return options


CHECKSUMS_FROM = 18
"""From this version on initdb switches data checksums on by itself."""


@dataclass(frozen=True)
class _Database:
    extensions: list[str]
    icu: bool
    lz4: bool


def shape_of(session: Connection) -> ClusterShape:
    """Reads what a new data directory must agree in."""
    with session.cursor(row_factory=class_row(ClusterShape)) as cursor:
        return opened(
            cursor.execute(statement("existing/upgraded_cluster"), prepare=False).fetchone()
        )


def unfit_versions(
    session: Connection,
    parameters: ConnectionParameters,
    versions: Versions,
    bin_directory: Path | None,
) -> Iterator[PgassayError]:
    """Yields a refusal for each thing that keeps copies of the server from their versions."""
    if not versions.of_level:
        return
    own = versions.own(session, bin_directory)
    programs = versions.programs(own)
    shape = shape_of(session)
    moved = {level: one for level, one in programs.items() if versions.changes_files(one, own)}
    if moved and shape.prepared:
        yield TargetRefused("prepared-for-an-upgrade", count=shape.prepared)
    here = _libc_here()
    if versions.how != "dump" and shape.libc and here and shape.libc != here:
        yield TargetRefused("another-libc", there=shape.libc, here=here)
    needed = _needed(parameters, shape.databases)
    for level, one in programs.items():
        if one.major < own.major:
            yield TargetRefused(
                "older-than-the-server", level=level, version=one.version, major=own.major
            )
            continue
        if level in moved:
            wanted = OF_DUMP if versions.how == "dump" else OF_UPGRADE
            if absent := [name for name in wanted if not one.program(name).is_file()]:
                yield TargetRefused("upgrade-programs-missing", absent=tuple(absent), **_named(one))
        yield from _lacking(one, needed)


def _lacking(programs: Installation, needed: Mapping[str, _Database]) -> Iterator[PgassayError]:
    known = extensions_of(programs)
    lacking: dict[str, list[str]] = {}
    for database, found in needed.items():
        for extension in set(found.extensions) - known:
            lacking.setdefault(extension, []).append(database)
    for extension, databases in sorted(lacking.items()):
        yield TargetRefused(
            "extension-missing", extension=extension, databases=tuple(databases), **_named(programs)
        )
    for library, symbol, uses in (
        ("ICU", b"ucol_open", [name for name, one in needed.items() if one.icu]),
        ("LZ4", b"LZ4_compress_default", [name for name, one in needed.items() if one.lz4]),
    ):
        if uses and not programs.names(symbol):
            yield TargetRefused(
                "built-without", library=library, databases=tuple(uses), **_named(programs)
            )


def _named(programs: Installation) -> dict[str, object]:
    return {"version": programs.version, "directory": programs.bin_directory}


def _needed(parameters: ConnectionParameters, databases: list[str]) -> dict[str, _Database]:
    """What each database takes, of those that this user may enter."""
    found = {}
    for name in databases:
        with (
            suppress(TargetError),
            connect(replace(parameters, dbname=name)) as session,
            session.cursor(row_factory=class_row(_Database)) as cursor,
        ):
            session.execute("SET default_transaction_read_only = on")
            row = cursor.execute(statement("existing/upgraded_database"), prepare=False).fetchone()
            found[name] = opened(row)
    return found


def _libc_here() -> str | None:
    """The version of this machine's C library, as PostgreSQL writes it; None of another library
    than GNU's."""
    with suppress(OSError, ValueError):
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        return version if name == "glibc" else None
    return None


def release(programs: Installation) -> str:
    """Returns what programs must have in common to run the same files, such as `18` or `19beta2`:
    catalogs still change between previews of a version."""
    return programs.version.partition(".")[0]


def takes(programs: Installation, name: str, value: str) -> bool:
    """Returns whether servers of an installation know a setting, and take this value of it;
    those of extensions (with a dot) are taken by all."""
    if "." in name:
        return True
    if not programs.names(name.encode() + b"\0"):
        return False
    known = entries_of(name, programs.major) if programs.major in CATALOGUED else []
    return not any(
        misfit(
            value, one.get("unit"), one["vartype"], one.get("min"), one.get("max"),
            one.get("enum", ()),
        )
        for one in known
    )  # fmt: skip
