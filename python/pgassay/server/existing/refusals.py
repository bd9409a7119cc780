"""What the user's server is refused for as it was found: one list for `run`, `plan` and `doctor`.

Enters: a session of the server. Leaves: refusals, by `found_by`; `plan` and `doctor` show them, a
run raises them before it changes anything. Never: changes the server.

`FIT` is asked before the session's own settings are touched, `UNUSED` when a run has the lock of
the server, or while none has. What an experiment asks of a server beside this is in
`trials/run/refusals/of_servers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.rights import refuse_read_only
from pgassay.server.connection.session import server_row
from pgassay.server.data.schema import refuse_foreign
from pgassay.server.owned.installation import OLDEST_MAJOR
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.undo.killed_run import refuse_used


@dataclass(frozen=True)
class Found:
    """A server that is not looked at further, or changed, before these checks have passed."""

    session: Connection
    parameters: ConnectionParameters
    dsn: str
    """As the user wrote it; commands to put the server right name it."""
    makes: bool = True
    """Whether the run makes anything there: not where it only copies the server."""


Check = Callable[[Found], None]


def old_version(found: Found) -> None:
    """Raises TargetRefused for a version that pgassay does not work with."""
    row = server_row(found.session)
    if row.version_num < OLDEST_MAJOR * 10000:
        raise TargetRefused("server-too-old", version=row.version, oldest=OLDEST_MAJOR)


def standby(found: Found) -> None:
    """Raises TargetRefused for a standby, if the run makes something."""
    if found.makes and server_row(found.session).is_standby:
        raise TargetRefused("server-is-standby", server=found.parameters.label)


def read_only(found: Found) -> None:
    """Raises TargetError where new transactions may write nothing, and the run makes something."""
    if found.makes:
        refuse_read_only(found.session)


def used(found: Found) -> None:
    """Raises TargetError where another run is using the server, or a killed one has changed it."""
    refuse_used(found.session, found.parameters, found.dsn)


def foreign_schema(found: Found) -> None:
    """Raises TargetRefused where the schema `pgassay` is somebody else's."""
    refuse_foreign(found.session)


FIT: tuple[Check, ...] = (old_version, standby, read_only)
UNUSED: tuple[Check, ...] = (used, foreign_schema)
