"""What a copy of a server takes: programs of the same major version, and room on disk.

Enters: a session of the server, `target.bin` where it is given; the size of its databases, how many
copies there will be. Leaves: an `Installation` that has pg_basebackup too, words for a plan, or a
TargetError that names `target.bin` or the disk. Never: starts a server, or writes anything.
"""

from __future__ import annotations

import locale
from collections.abc import Sequence
from pathlib import Path

import psycopg

from pgassay.refusals.refusal import Refusal, TargetRefused
from pgassay.server.existing.requirements import is_here
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import VERSION_LIMIT_S, Installation, installation_at
from pgassay.server.owned.room import room_for, sized
from pgassay.server.protocol import Connection

BASE_BACKUP = "pg_basebackup"


def programs_for(session: Connection, bin_directory: Path | None) -> Installation:
    """Returns the programs in `bin_directory`, or else those that the source itself runs."""
    major = session.info.server_version // 10000
    directory = bin_directory or _directory_of(session)
    if directory is None:
        raise TargetRefused("programs-not-found", major=major)
    try:
        installation = installation_at(directory)
    except Refusal as found:
        raise TargetRefused(found.code, found.key, **found.values) from None
    if installation.major != major:
        raise TargetRefused(
            "programs-of-another-version",
            directory=directory,
            version=installation.version,
            major=major,
        )
    if not installation.program(BASE_BACKUP).is_file():
        raise TargetRefused("no-base-backup-program", directory=directory, major=major)
    return installation


def refuse_without_locales(names: Sequence[str]) -> None:
    """Raises TargetRefused where this machine lacks locales that the server's data or settings
    name: databases that sort by them could not be opened."""
    if missing := tuple(name for name in names if not _has_locale(name)):
        raise TargetRefused("locales-missing", names=missing)


def _has_locale(name: str) -> bool:
    found = locale.setlocale(locale.LC_COLLATE)
    try:
        locale.setlocale(locale.LC_COLLATE, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_COLLATE, found)
    return True


def has_library(installation: Installation, library: str) -> bool:
    """Returns whether a preloaded library is among the files of an installation."""
    if library.startswith("/"):
        return any(Path(f"{library}{ending}").is_file() for ending in ("", ".so"))
    name = library.removeprefix("$libdir/").removesuffix(".so")
    beside = installation.bin_directory.parent / "lib"
    folders = [beside, beside / "postgresql", *_configured(installation, "--pkglibdir")]
    return any((folder / f"{name}.so").is_file() for folder in folders)


def extensions_of(installation: Installation) -> set[str]:
    """Returns the names of the extensions that servers of an installation can create."""
    beside = installation.bin_directory.parent / "share"
    folders = [beside, beside / "postgresql", *_configured(installation, "--sharedir")]
    return {path.stem for folder in folders for path in (folder / "extension").glob("*.control")}


def _configured(installation: Installation, asked: str) -> list[Path]:
    result = Account("", -1, -1, switches=False).run(
        [installation.program("pg_config"), asked], limit_s=VERSION_LIMIT_S
    )
    return [Path(result.stdout.strip())] if result.returncode == 0 else []


def _directory_of(session: Connection) -> Path | None:
    """Where the program of this session's own backend lies, if that runs here."""
    if not is_here(session):
        return None
    try:
        return Path(f"/proc/{session.info.backend_pid}/exe").readlink().parent
    except OSError:
        # Another account's process; the server itself says it to those with pg_read_all_settings.
        query = "SELECT setting FROM pg_catalog.pg_config WHERE name = 'BINDIR'"
        try:
            row = session.execute(query, prepare=False).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            return None
        return None if row is None else Path(row[0])


def refuse_without_room(size: int, copies: int) -> None:
    """Raises TargetError where a base backup and its copies do not fit on the disk."""
    room = room_for(size, copies)
    if room.needed > room.free:
        raise TargetRefused(
            "no-room-for-a-copy", str(room.folder), free=sized(room.free), needed=sized(room.needed)
        )
