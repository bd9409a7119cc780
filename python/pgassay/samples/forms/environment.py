"""environment.json: the host, the server, its settings and data when the run began.

Enters: the object of the file. Leaves: an `EnvironmentFile`.
Never: requires a key; what it holds differs by server, host and version.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from pgassay.samples.forms.other_programs import OtherPrograms
from pgassay.stored_model import Items, Number, Part, SaidNote, Scalar, Stored, StoredFile


class Setting(Stored):
    """A setting of the server, as it was when the run began."""

    value: Scalar | None = None
    """With its unit, such as `16384 × 8kB`."""
    source: str | None = None
    """Where it comes from, as pg_settings says."""


class Server(Part):
    """A server and its settings."""

    version: str | None = None
    """Such as `PostgreSQL 18.4`."""
    build: str | None = None
    """As version() says it."""
    settings: dict[str, Scalar] = Field({})
    """Those that are not the defaults."""
    every_setting: dict[str, Setting] = Field({})

    def value_of(self, setting: str) -> str | None:
        """Returns a setting's value as it was; None where it is not known."""
        found = self.every_setting.get(setting)
        return None if found is None or found.value is None else str(found.value)


class Place(Part):
    """Where one of the server's directories lies."""

    mount: str = "?"
    file_system: str | None = None
    devices: Items[str] = ()
    disks: Items[str] = ()
    """Below the devices, where those are made of others."""


class Host(Part):
    """The host of the server."""

    cpus: int | None = None
    memory_bytes: int | None = None
    kernel: str | None = None
    cpu: str | None = None
    """Its model."""
    storage: dict[str, Place] = Field({})
    """By role, such as `data` or `wal`."""
    vm: dict[str, Scalar] = Field({})
    """Settings of the kernel's memory, by their names for sysctl."""


class NotSeen(Part):
    """What could not be measured, and how to enable it."""

    name: SaidNote = None
    found: SaidNote = None
    fix: SaidNote = None
    servers: Items[str] = ()
    """Those that lack it, where not all do."""


class Relation(Stored):
    """A table or an index."""

    schema_: str = Field(alias="schema")
    name: str
    kind: str | None = None
    size_bytes: Number


class DataSize(Part):
    """How large a database was at the start."""

    total_bytes: Number | None = None
    reason: str | None = None
    """Why its size is not known."""
    largest: Items[Relation] = ()


class TableContent(Stored):
    """What a table of the workload held on one of several servers."""

    rows: Number = 0
    checksum: Scalar | None = None


class QueryCalls(Part):
    """How often clients called the queries of a set before the run, by pg_stat_statements."""

    calls: dict[str, Number] = Field({})
    """By query; those that nobody called are left out."""
    since: str | None = None
    """When the counting began, in ISO form."""

    def hours_until(self, moment: str | None) -> float | None:
        """Returns the hours from the beginning until a moment; None where they are not known."""
        if self.since is None or moment is None:
            return None
        seconds = (
            datetime.fromisoformat(moment) - datetime.fromisoformat(self.since)
        ).total_seconds()
        return seconds / 3600.0 if seconds > 0 else None


class EnvironmentFile(Part, StoredFile):
    """The keys that are read; `given` has all."""

    schema_: Literal["pgassay.environment/1"] = Field("pgassay.environment/1", alias="schema")
    pgassay: str | None = None
    created_at: str | None = None
    target: str | None = None
    """The kind of server: embedded, owned or existing."""
    server: Server = Server()
    servers: dict[str, Server] = Field({})
    """Of a fleet or a duet: the servers by name."""
    settings_that_differ: dict[str, dict[str, Any]] = Field({})
    """Of several servers: setting → server → value."""
    settings_of_some: dict[str, Items[str]] = Field({})
    """Server → settings that another lacks."""
    data: dict[str, dict[str, dict[str, TableContent]]] = Field({})
    """Of several servers: dataset → server → table."""
    fleet: dict[str, Any] = Field({})
    host: Host = Host()
    standby: bool = False
    reset: dict[str, Any] = Field({})
    placement: dict[str, Any] = Field({})
    other_programs: OtherPrograms | None = None
    """What other programs used of the host before the first trial."""
    sizes: dict[str, DataSize] = Field({})
    """By workload or database."""
    schema_made_in_s: dict[str, Number] = Field({})
    """Variant of the schema, with its server where there are several → how long its SQL took."""
    schema_bytes: dict[str, Number] = Field({})
    """Level of the schema → the size of what it has made, where one database has all levels."""
    resumed: Items[dict[str, Any]] = ()
    """When the run was resumed, and what was accepted."""
    not_seen: Items[NotSeen] = ()
    query_calls: QueryCalls | None = None
    earlier_runs: int = 0
    """Of the same file on the same machine."""
