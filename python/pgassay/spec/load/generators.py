"""The `[load.generators]` table: the machines that the load comes from.

Enters: the table that tomllib made. Leaves: a frozen `GeneratorsTable`. Never: joins a cluster.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pgassay.spec.reading.values import ClusterOrLocal, Table


class GeneratorsTable(Table):
    """The `[load.generators]` table: load generators on nodes of a Ray cluster; left out, the load
    comes from this machine."""

    ray: ClusterOrLocal = Field(
        "auto",
        description="the cluster: auto (this machine is a node of it), HOST:PORT, or local (a"
        " cluster of this machine alone)",
    )
    count: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        None, description="number of generators, one a node; left out, every node that fits"
    )
    resource: str | None = Field(
        None,
        description="custom resource of Ray's that the nodes meant for load have, so that the"
        " server's own machine gets none",
    )
    lost: Literal["stop", "continue"] = Field(
        "stop",
        description="when a generator is lost: stop the run, or run the trial again with those"
        " that remain",
    )

    @property
    def described(self) -> str:
        """Returns a line for people that says where the load comes from."""
        count = "every node" if self.count is None else f"{self.count} nodes"
        meant = f" with the resource {self.resource}" if self.resource else ""
        return f"from {count} of the Ray cluster at {self.ray}{meant}"
