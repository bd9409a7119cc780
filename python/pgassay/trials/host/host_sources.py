"""Which files of a server's host are sampled, and which disks hold the server's files.

Enters: a host, a session of its server, the server's facts; the session alone where only SQL
reaches the host. Leaves: `HostSources` for the sampler, and the `storage` of environment.json.
Never: reads a counter itself, or fails for what is missing or refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pgassay.notes import Note
from pgassay.server.connection.rights import own_role
from pgassay.server.hosts.block_devices import (
    Mount,
    Storage,
    describe_device,
    read_mounts,
    storage_of,
)
from pgassay.server.hosts.control_groups import control_group_files
from pgassay.server.hosts.host import Host, HostUnreachable, is_there, text_of
from pgassay.server.protocol import Connection, ServerFacts
from pgassay.server.statements import statement

_UNSPLIT = {"unsplit": Note("trials/host/unsplit")}
_FILE_SYSTEM = "file_system"


@dataclass(frozen=True)
class HostSources:
    """The files of a host that the sampler reads, and which of their values are kept."""

    files: tuple[Mapping[str, str], ...]
    devices: tuple[str, ...] = ()
    """Block devices of data, WAL, log and tablespaces; empty where unknown: then all are kept."""
    postmaster: int | None = None
    notes: tuple[Note, ...] = ()
    """What is missing."""
    reader: tuple[str, ...] = ()
    """The program that reads them where they are; empty where they are here."""
    sql: str = ""
    """Or the query that has the server read them."""

    def for_core(self, every_s: float) -> dict[str, Any] | None:
        """Returns the `host` object that the native module reads; None where there is nothing to
        read."""
        if not self.files:
            return None
        return {
            "every_s": every_s,
            "files": [dict(file) for file in self.files],
            "devices": list(self.devices) or None,
            "postmaster": self.postmaster,
            "reader": list(self.reader) or None,
            "sql": self.sql or None,
        }


NO_HOST = HostSources(())


@cache
def host_files() -> tuple[Mapping[str, str], ...]:
    """Returns the entry of every file in host_sources.toml."""
    found = tomllib.loads((files(__package__) / "host_sources.toml").read_text("utf-8"))
    return tuple(found["file"])


def host_sources(host: Host, session: Connection, facts: ServerFacts) -> HostSources:
    """Returns what to read of a host in one trial; nothing, and a note, where it is out of
    reach."""
    try:
        return _sources(host, session, facts)
    except HostUnreachable as error:
        return HostSources((), notes=(Note("trials/host/not-observed", {"error": str(error)}),))


def _sources(host: Host, session: Connection, facts: ServerFacts) -> HostSources:
    mounts = read_mounts(host)
    found, notes = [], []
    for file in host_files():
        if is_there(host, Path(file["path"])):
            found.append(_as_configured(file))
        else:
            of = "trials/host/no-file-needs" if "needs" in file else "trials/host/no-file"
            values = {name: file[name] for name in ("path", "needs") if name in file}
            notes.append(Note(of, values))
    postmaster = _postmaster(host, session.info.backend_pid)
    if postmaster is not None:
        found += control_group_files(host, postmaster, mounts)
        if not is_there(host, Path(f"/proc/{postmaster}/schedstat")):
            notes.append(Note("trials/host/no-schedstat", _UNSPLIT))
    else:
        notes.append(Note("trials/host/processes-hidden", {"label": host.label, **_UNSPLIT}))
    storage = _storage(host, facts, mounts)
    for place in storage.values():
        if place.mount and place.path not in [f["path"] for f in found]:
            found.append(
                {
                    "path": place.path,
                    "source": "file_system",
                    "object": place.mount,
                    "format": _FILE_SYSTEM,
                }
            )
    devices = dict.fromkeys(name for place in storage.values() for name in place.devices)
    reader = _reader(host, postmaster, found) if host.name else []
    return HostSources(tuple(found), tuple(devices), postmaster, tuple(notes), tuple(reader))


def _reader(host: Host, postmaster: int | None, found: Sequence[Mapping[str, str]]) -> list[str]:
    """One program for the whole trial, which reads the files where they are."""
    script = (files(__package__) / "host_reader.sh").read_text("utf-8")
    mounts = [file["path"] for file in found if file["format"] == _FILE_SYSTEM]
    read = [file["path"] for file in found if file["format"] != _FILE_SYSTEM]
    return host.command(["sh", "-c", script, "sh", str(postmaster or 0), *read, "--", *mounts])


def describe_storage(host: Host, facts: ServerFacts) -> dict[str, Any]:
    """Describes data, WAL, log and tablespaces: their file systems and devices, for
    environment.json."""
    storage = _storage(host, facts, read_mounts(host))
    devices = dict.fromkeys(name for place in storage.values() for name in place.devices)
    described = {name: describe_device(name, host) for name in devices}
    return {
        "storage": {name: _described(place) for name, place in storage.items()},
        "devices": described,
    }


def _as_configured(file: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in file.items() if key != "needs"}


def _storage(host: Host, facts: ServerFacts, mounts: Sequence[Mount]) -> dict[str, Storage]:
    if facts.data_directory is None:
        return {}
    data = Path(facts.data_directory)
    paths = {"data": data, "wal": data / "pg_wal"}
    collector, directory = (facts.settings.get(n) for n in ("logging_collector", "log_directory"))
    if facts.log_file is not None:
        paths["log"] = facts.log_file.parent
    elif collector and directory and collector.value == "on":
        paths["log"] = data / directory.value
    try:
        spaces = host.names(data / "pg_tblspc")
    except OSError:
        spaces = []
    paths |= {f"tablespace {name}": data / "pg_tblspc" / name for name in sorted(spaces)}
    return {name: storage_of(path, host, mounts) for name, path in paths.items()}


def _described(place: Storage) -> dict[str, Any]:
    if place.reason and not place.mount:
        return {"path": place.path, "reason": place.reason}
    described = {
        "path": place.path,
        "mount": place.mount,
        "file_system": place.file_system,
        "options": place.options,
        "devices": list(place.devices),
        "disks": list(place.disks),
    }
    return described | ({"reason": place.reason} if place.reason else {})


def _postmaster(host: Host, backend: int) -> int | None:
    """The parent of our session's backend; None where its /proc is not visible."""
    stat = text_of(host, Path(f"/proc/{backend}/stat"))
    try:
        return None if stat is None else int(stat.rpartition(")")[2].split()[1])
    except (ValueError, IndexError):
        return None


_READ = "SELECT pg_catalog.pg_read_file(%s, 0, 1048576, true) IS NOT NULL"


def grants(role: str) -> str:
    """Returns the SQL that lets a role, given as an identifier, read the counters of the server's
    host."""
    return (
        f"GRANT pg_read_server_files TO {role}; GRANT EXECUTE ON FUNCTION"
        f" pg_read_file(text, bigint, bigint, boolean) TO {role};"
    )


def sources_over_sql(session: Connection) -> HostSources:
    """Returns what the server can read of its host by SQL; no files, and a note, where our role may
    not ask."""
    found = []
    why = Note("trials/host/no-proc")
    for file in host_files():
        try:
            row = session.execute(_READ, (file["path"],), prepare=False).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            why = Note("trials/host/grants", {"grants": grants(own_role(session))})
            break
        except psycopg.Error:
            continue  # the kernel has the file and cannot say anything in it
        if row == (True,):
            found.append(_as_configured(file))
    if not found:
        return HostSources((), notes=(Note("trials/host/not-measured", {"why": why}),))
    paths = [file["path"] for file in found]
    query = sql.SQL(statement("trials/host_files").decode()).format(paths=sql.Literal(paths))
    return HostSources(tuple(found), sql=query.as_string(session))
