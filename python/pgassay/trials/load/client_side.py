"""Settings and TLS of the load's sessions.

Enters: where the target is reached, the `[load]` table. Leaves: where the load connects.
Never: changes the sessions of the samplers or of control.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.table import LoadTable


def as_the_client(connection: ConnectionParameters, load: LoadTable) -> ConnectionParameters:
    """The connection with the session settings of `[load]`; a program gets them as PGOPTIONS."""
    given = [f"-c {name}={_escaped(value)}" for name, value in load.settings.items()]
    options = " ".join(part for part in (connection.options, *given) if part)
    return replace(connection, options=options, sslmode=load.sslmode or connection.sslmode)


def _escaped(value: str) -> str:
    """The server splits options at white space that no backslash stands before."""
    return re.sub(r"([\\\s])", r"\\\1", value)
