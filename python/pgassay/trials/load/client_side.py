"""Settings and TLS of the load's sessions.

Enters: where the target is reached, the `[load]` table. Leaves: where the load connects.
Never: changes the sessions of the samplers or of control.
"""

from __future__ import annotations

from dataclasses import replace

from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.table import LoadTable


def as_the_client(connection: ConnectionParameters, load: LoadTable) -> ConnectionParameters:
    """Returns the connection parameters with the session settings of `[load]`; a program gets them
    as PGOPTIONS."""
    given = {name.lower(): value for name, value in load.settings.items()}
    startup = {**connection.startup, **given}
    return replace(connection, startup=startup, sslmode=load.sslmode or connection.sslmode)
