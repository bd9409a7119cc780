"""Sessions for the SQL of tests: in the search path that a user has.

Enters: where to connect. Leaves: a control session. Never: looks for names in pg_catalog alone, as
those of pgassay's own statements do.
"""

from __future__ import annotations

from typing import Any

from pgassay.server.connection import session
from pgassay.server.protocol import Connection, ConnectionParameters


def connect(parameters: ConnectionParameters, **options: Any) -> Connection:
    """A control session that keeps the search path."""
    return session.connect(parameters, keeps_path=True, **options)
