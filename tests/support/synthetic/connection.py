"""A connection that nothing connects to.

Enters: nothing. Leaves: `CONNECTION`. Never: reaches a server.
"""

from __future__ import annotations

from pgassay.server.protocol import ConnectionParameters

CONNECTION = ConnectionParameters("/tmp", 5432, "lab", "bench", options="-c x=1")  # noqa: S108
