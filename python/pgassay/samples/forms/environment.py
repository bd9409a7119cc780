"""environment.json: the host, the server, its settings and data when the run began.

Enters: the object of the file. Leaves: an `EnvironmentFile`.
Never: requires a key; what it holds differs by server, host and version.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from pgassay.stored_model import Items, Part, Scalar, Stored, StoredFile


class _Given(Stored):
    """An object whose nulls are read where it is read as a mapping."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        return value


class Server(_Given):
    """A server and its settings."""

    version: str | None = None
    version_num: int | None = None
    settings: dict[str, Scalar] = Field({})
    """Those that are not the defaults."""
    every_setting: dict[str, dict[str, Any]] = Field({})
    """Name → value, unit, source and more."""


class Host(_Given):
    """The host of the server."""

    cpus: int | None = None
    memory_bytes: int | None = None
    storage: dict[str, dict[str, Any]] = Field({})


class EnvironmentFile(_Given, Part, StoredFile):
    """The keys that are read; `given` has all."""

    schema_: Literal["pgassay.environment/1"] = Field("pgassay.environment/1", alias="schema")
    created_at: str | None = None
    pgassay: str | None = None
    server: Server = Server()
    servers: dict[str, Server] = Field({})
    """Of a fleet or a duet: the servers by name."""
    host: Host = Host()
    not_seen: Items[dict[str, Any]] = ()
    earlier_runs: int = 0
    sizes: dict[str, dict[str, Any]] = Field({})
