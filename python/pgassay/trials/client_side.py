"""What the load's sessions have of their own: settings they begin with, TLS.

Enters: where the target is reached, the `[load]` table. Leaves: where the load connects.
Never: changes the sessions of the samplers or of control.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pgassay.spec.load_table import LoadTable
from pgassay.target.protocol import ConnectionParameters


def as_the_client(connection: ConnectionParameters, load: LoadTable) -> ConnectionParameters:
    """The connection with what `[load]` says of its sessions; a program is told it by PGOPTIONS."""
    given = [f"-c {name}={_escaped(value)}" for name, value in load.settings.items()]
    options = " ".join(part for part in (connection.options, *given) if part)
    return replace(connection, options=options, sslmode=load.sslmode or connection.sslmode)


def _escaped(value: str) -> str:
    """The server splits options at white space that no backslash stands before."""
    return re.sub(r"([\\\s])", r"\\\1", value)
