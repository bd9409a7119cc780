"""Tables that are on the server already, for a workload that makes none.

Enters: nothing; `folder.py` makes it of workload.toml. Leaves: the names of tables and schemas.
Never: looks at a server.
"""

from __future__ import annotations

from dataclasses import dataclass

INSTALLED = "installed"
"""The `data` of such a workload."""


@dataclass(frozen=True)
class InstalledTables:
    """What a workload needs of a database, and where its names are looked up."""

    tables: tuple[str, ...]
    """As the scripts write them: with a schema or without."""
    schemas: tuple[str, ...] = ()
    """The search path of the load's sessions; empty for the one that the user has there."""
