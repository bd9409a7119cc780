"""The existing server that is copied, looked at before a base backup is taken.

Enters: its connection string, the signs of production that are accepted, `target.bin`, the versions
that copies run with, how many copies are to fit. Leaves: a `Source`, or what keeps it from being
copied, one line each with its fix; for each level what was done to its copy, and what that lacks.
Never: changes anything there; its session is read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from pgassay.errors import ConnectionRefused, PgassayError
from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused, found_by, refuse
from pgassay.server.connection.session import as_target_error, connect, refused, resolve
from pgassay.server.copied.base_backup import replication_words
from pgassay.server.copied.carried import Carried, carry, reaching_extensions
from pgassay.server.copied.requirements import (
    has_library,
    refuse_without_locales,
    refuse_without_room,
)
from pgassay.server.copied.versions import (
    CHECKSUMS_FROM,
    OWN_VERSION,
    ClusterShape,
    Versions,
    release,
    shape_of,
    takes,
    unfit_versions,
)
from pgassay.server.existing.refusals import UNUSED, Found, old_version
from pgassay.server.existing.requirements import is_here
from pgassay.server.existing.signs import Sign, look_for_signs, refuse_signs
from pgassay.server.owned.installation import Installation
from pgassay.server.protocol import Connection, ConnectionParameters, Setting
from pgassay.server.settings.values import read_settings
from pgassay.server.statements import statement
from pgassay.server.undo.killed_run import explained
from pgassay.spec.server.signs import SIGNS

LEAST_SENDERS = 2
"""pg_basebackup has one session for the files and one for the WAL written meanwhile."""


JIT = "llvmjit"
"""The library that compiles expressions; packages may have it apart from the server."""
USED = ("commits", "sessions")
"""Names of the signs that a server has users."""


@dataclass(frozen=True)
class Source:
    """An existing server that can be copied, with what the copy needs to know of it."""

    parameters: ConnectionParameters
    superuser: str
    size: int
    """Bytes of the databases that the user may measure."""
    installation: Installation
    """Of the server's own version."""
    versions: Versions
    programs: Mapping[str, Installation]
    """Of each level."""
    shape: ClusterShape
    known: Mapping[str, Setting]
    extensions: Mapping[str, str]
    """Those of the database, with their versions."""
    collations: Mapping[str, str]
    """What sorts its text: the C library, ICU, with their versions."""
    unlogged: int
    """Unlogged tables of the database; a base backup has them empty."""
    foreign_servers: tuple[str, ...] = ()
    """Those of the database."""

    def carried(self, programs: Installation) -> Carried:
        """Returns what a copy takes over that these programs run: libraries that all copies
        have, because what a library costs must not differ between them."""
        return carry(
            self.known,
            lambda name: all(has_library(one, name) for one in self.programs.values()),
            lambda name, value: programs is self.installation or takes(programs, name, value),
        )

    def caveats(self, level: str) -> tuple[Note, ...]:
        """Sentences on what the copy of a level does not have, and how it came to its version."""
        programs = self.programs[level]
        found = list(self.carried(programs).caveats)
        if self.unlogged:
            found.append(
                Note.of(
                    "server/copied/unlogged-empty",
                    count=self.unlogged,
                    dbname=self.parameters.dbname,
                )
            )
        if self.foreign_servers:
            found.append(Note.of("server/copied/cut-off", names=self.foreign_servers))
        if reaching := tuple(name for name in self.extensions if name in reaching_extensions()):
            found.append(Note.of("server/copied/reaches-out", names=reaching))
        if level:
            found.append(self.way(level))
            first = next(iter(self.programs.values()))
            if release(programs) != release(first):
                of = {"version": programs.version, "first": first.version}
                found.append(Note("server/copied/sampled-apart", of))
        if programs.major >= CHECKSUMS_FROM > self.installation.major and not self.shape.checksums:
            found.append(Note.of("server/copied/without-checksums", version=programs.version))
        compiles = {name: has_library(one, JIT) for name, one in self.programs.items()}
        if self.known["jit"].value == "on" and any(compiles.values()) and not compiles[level]:
            found.append(Note.of("server/copied/without-jit", version=programs.version))
        return tuple(found)

    def like(self, level: str) -> list[str]:
        """Returns the levels that start from the same files: those of one release, where some level
        needs more than the files of the server."""
        if not self.changes_some:
            return [level]
        wanted = release(self.programs[level])
        return [name for name, one in self.programs.items() if release(one) == wanted]

    @property
    def changes_some(self) -> bool:
        """Whether the copy of some level is more than the files of the server."""
        return any(map(self.changes_files, self.programs))

    def way(self, level: str) -> Note:
        """Returns how the copy of a level came to its version."""
        version, own = self.programs[level].version, self.installation.version
        if not self.changes_files(level):
            return Note.of("server/copied/as-they-are", version=version)
        if self.versions.how == "dump":
            return Note.of("server/copied/restored", version=version, own=own)
        return Note.of("server/copied/upgraded", version=version, own=own)

    def changes_files(self, level: str) -> bool:
        """Returns whether the copy of a level is more than the files of the server."""
        return self.versions.changes_files(self.programs[level], self.installation)


def find_source(
    dsn: str,
    *,
    accept: Collection[str],
    bin_directory: Path | None,
    copies: int,
    versions: Versions = OWN_VERSION,
) -> Source:
    """Looks at the server; raises TargetError with the things that keep it from being copied."""
    with look(dsn) as (session, parameters):
        refuse_signs(signs_of_users(session, accept), parameters.label)
        refuse(problems(session, parameters, dsn, bin_directory, copies, versions))
        return source_of(session, parameters, bin_directory, versions)


def source_of(
    session: Connection,
    parameters: ConnectionParameters,
    bin_directory: Path | None,
    versions: Versions = OWN_VERSION,
) -> Source:
    """Reads from the source everything that a copy needs to know."""
    facts, installation = _facts(session), versions.own(session, bin_directory)
    return Source(
        parameters,
        facts["superuser"],
        facts["size"],
        installation,
        versions,
        versions.programs(installation),
        shape_of(session),
        read_settings(session),
        extensions_in(session),
        collations_in(session),
        facts["unlogged"],
        tuple(facts["foreign_servers"]),
    )


def extensions_in(session: Connection) -> dict[str, str]:
    """Returns the extensions of a database with their versions."""
    query = "SELECT extname::text, extversion FROM pg_catalog.pg_extension ORDER BY extname"
    return dict(session.execute(query, prepare=False).fetchall())


def collations_in(session: Connection) -> dict[str, str]:
    """Returns what sorts text in a database otherwise than by bytes, with its version."""
    return dict(session.execute(statement("existing/collations"), prepare=False).fetchall())


def other_versions(there: Mapping[str, str], here: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the names whose version in the copy is not that on the server, with both."""
    return tuple(
        f"{name} {version} → {here[name]}"
        for name, version in there.items()
        if here.get(name, version) != version
    )


@contextmanager
def look(dsn: str) -> Iterator[tuple[Connection, ConnectionParameters]]:
    """Opens a read-only session of the source; yields it with its connection parameters."""
    try:
        parameters = resolve(dsn)
    except ConnectionRefused as refusal:
        raise explained(refusal, dsn) from None
    with as_target_error("looking at the server"), connect(parameters) as session:
        session.execute("SET default_transaction_read_only = on")
        yield session, parameters


def signs_of_users(session: Connection, without: Collection[str] = ()) -> list[Sign]:
    """Signs that somebody uses a server on this host, where the load of a copy would slow it.

    Its archive, standbys and slots are no signs here: a base backup does nothing to them.
    """
    if not is_here(session):
        return []
    return look_for_signs(session, {*without, *(name for name in SIGNS if name not in USED)})


def problems(
    session: Connection,
    parameters: ConnectionParameters,
    dsn: str,
    bin_directory: Path | None,
    copies: int,
    versions: Versions = OWN_VERSION,
) -> Iterator[PgassayError]:
    """Yields a refusal for each thing that keeps the server from being copied."""
    as_found = Found(session, parameters, dsn, makes=False)
    if unfit := found_by([old_version], as_found):
        yield from unfit
        return
    # What a killed run has changed would be carried over as the server's own.
    yield from found_by(UNUSED, as_found)
    facts = _facts(session)
    checks: list[Callable[[], object]] = [
        lambda: _refuse_uncopied(facts),
        lambda: refuse_without_locales(facts["locales"]),
        lambda: _refuse_without_replication(session, parameters, facts),
        lambda: versions.own(session, bin_directory),
        lambda: unfit_versions(session, parameters, versions, bin_directory),
        lambda: refuse_without_room(
            facts["size"], copies + versions.beside(versions.own(session, bin_directory))
        ),
    ]
    yield from found_by(checks)


def _facts(session: Connection) -> dict[str, Any]:
    with session.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        row = cursor.execute(statement("existing/base_backup_source"), prepare=False).fetchone()
    if row is None:
        raise TargetRefused("no-row", doing="looking at the server to copy")
    return row


def _refuse_uncopied(facts: dict[str, Any]) -> None:
    if facts["tablespaces"]:
        raise TargetRefused("tablespaces-not-copied", tablespaces=facts["tablespaces"])
    if not facts["reads_settings"]:
        raise TargetRefused("settings-hidden-from-a-copy", role=facts["role"])
    if facts["superuser"] is None:
        raise TargetRefused("no-superuser-for-a-copy")


def _refuse_without_replication(
    session: Connection, parameters: ConnectionParameters, facts: dict[str, Any]
) -> None:
    """Open the kind of session that pg_basebackup takes, and close it again."""
    row = session.execute("SELECT current_setting('max_wal_senders')::int").fetchone()
    if row is None or row[0] < LEAST_SENDERS:
        raise TargetRefused("no-replication", least=LEAST_SENDERS)
    attempt = psycopg.pq.PGconn.connect(replication_words(parameters).encode())
    try:
        if attempt.status == psycopg.pq.ConnStatus.OK:
            return
        error = psycopg.OperationalError(attempt.get_error_message())
    finally:
        attempt.finish()
    text = str(error)
    if "pg_hba.conf" in text:
        where = f"host replication {facts['role']} {facts['client']}/{_bits(facts['client'])}"
        line = where if facts["client"] else f"local replication {facts['role']}"
        raise TargetRefused("no-backup-by-hba", line=line) from None
    if "walsender" in text or "WAL sender" in text:
        raise TargetRefused("no-backup-by-role", role=facts["role"]) from None
    raise TargetRefused("no-base-backup", why=refused(error, parameters.password)) from None


def _bits(address: str | None) -> int:
    return 128 if ":" in (address or "") else 32
