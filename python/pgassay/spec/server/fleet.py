"""The `[target.fleet]` table: several servers, each of which runs whole blocks.

Enters: the table that tomllib made. Leaves: the checked table, or a ValueError that names the fix.
Never: joins a cluster.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.connection_strings import without_password
from pgassay.spec.reading.values import ClusterAddress, Table

_Server = Annotated[str, BeforeValidator(without_password), Field(min_length=1, max_length=4096)]


class FleetTable(Table):
    """The `[target.fleet]` table: one server on each of several nodes of a Ray cluster, or existing
    servers that such nodes reach, one each."""

    nodes: Literal["all"] | Annotated[int, Field(ge=2, le=1000)] = Field(
        "all", description="fleet: how many nodes of the Ray cluster have a server, or all"
    )
    servers: Annotated[tuple[_Server, ...], Field(strict=False, max_length=1000)] = Field(
        (),
        description="fleet of existing servers: a libpq connection string for each, all without a"
        " password",
    )
    ray: ClusterAddress = Field(
        "auto",
        description="fleet: the Ray cluster: auto, of which this machine is a node, or HOST:PORT",
    )

    @field_validator("servers")
    @classmethod
    def _several(cls, servers: tuple[str, ...]) -> tuple[str, ...]:
        if len(servers) < 2:
            raise UnfitValue("fleet-of-one")
        if twice := next((one for one in servers if servers.count(one) > 1), None):
            raise UnfitValue("server-twice", dsn=twice)
        return servers

    @model_validator(mode="after")
    def _one_of(self) -> FleetTable:
        if self.servers and "nodes" in self.model_fields_set:
            raise UnfitValue("nodes-beside-servers")
        return self

    @property
    def count(self) -> int | None:
        """The number of nodes; None for all."""
        if self.servers:
            return len(self.servers)
        return None if self.nodes == "all" else self.nodes
