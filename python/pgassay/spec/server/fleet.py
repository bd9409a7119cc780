"""The `[target.fleet]` table: several servers, each of which runs whole blocks.

Enters: the table that tomllib made. Leaves: the checked table, or a ValueError that names the fix.
Never: joins a cluster.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from pgassay.spec.reading.values import Table


class FleetTable(Table):
    """One server on each of several nodes of a Ray cluster."""

    nodes: Literal["all"] | Annotated[int, Field(ge=2, le=1000)] = Field(
        "all", description="fleet: how many nodes of the Ray cluster have a server, or all"
    )
    ray: Annotated[str, Field(min_length=1, max_length=255)] = Field(
        "auto",
        description="fleet: the Ray cluster: auto, of which this machine is a node, or HOST:PORT",
    )

    @property
    def count(self) -> int | None:
        """How many nodes; None for all."""
        return None if self.nodes == "all" else self.nodes


def refuse_beside_fleet(file: Any) -> None:
    """ValueError where a table of the file asks for what a fleet cannot give."""
    if file.target.fleet is None:
        return
    wrong = {
        "target.dsn": file.target.dsn is not None,
        "factors.target": bool(file.factors.target.servers()),
        "factors.host": bool(file.factors.host),
        "settings.host": bool(file.settings.host),
        "load.command": file.load.command is not None,
        "[profile]": file.profile is not None,
        "design.mode other than blocks": file.design.mode != "blocks",
    }
    found = [name for name, is_given in wrong.items() if is_given]
    if found:
        raise ValueError(
            f"target.fleet starts its servers on the nodes of a Ray cluster, and runs whole blocks"
            f" on each; drop {' and '.join(found)}, or target.fleet"
        )
