"""What `pgassay plan` says of an existing server, as values.

Enters: nothing. Leaves: `Preview` and `PlannedChange`. Never: looks at a server.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.server.existing.signs import Sign


@dataclass(frozen=True)
class PlannedChange:
    """One change that a run would make and take back at its end."""

    where: str
    """Such as "server" or "host"."""
    what: str
    takes: str
    """What it takes to be in force: such as "reload"."""


@dataclass(frozen=True)
class Preview:
    """What a run would find and do on an existing server."""

    server: str
    version: str
    signs: tuple[Sign, ...]
    accepted: tuple[str, ...]
    """Names of those among the signs that do not stop the run."""
    refusals: tuple[str, ...]
    """What else would stop it."""
    changes: tuple[PlannedChange, ...]
    data_directory: str | None = None
    """On the server's host, where that can be looked at."""
    sees_host: bool = True
    """Whether more than SQL reaches the server."""
