"""What a run would find on the host of an existing server.

Enters: a read-only session, the way to the host. Leaves: why host or service cannot be used as the
spec has it, and the room for copies where there are to be some. Never: changes anything there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.spec.reset import EXISTING_RULE, ResetLevel, ResetRule
from pgassay.target.access import Access
from pgassay.target.by_data import refuse_elsewhere_than
from pgassay.target.copy_room import Room, room_for
from pgassay.target.data_place import DataPlace, refuse_unmovable
from pgassay.target.host import Host
from pgassay.target.located import locate
from pgassay.target.memory import memory_of
from pgassay.target.protocol import Connection
from pgassay.target.server_program import refuse_other_program
from pgassay.target.service import Service


@dataclass(frozen=True)
class OnHost:
    """One look."""

    refusals: tuple[str, ...] = ()
    room: Room | None = None
    """Where trials are to run on copies of the data directory."""
    data: Path | None = None
    """Where the server's data are there."""
    memory: int | None = None
    """Bytes that it lets a server have that can be started anew."""


def look_at_host(
    session: Connection,
    access: Access,
    rule: ResetRule = EXISTING_RULE,
    *,
    copies: int = 0,
    restarts: bool = False,
) -> OnHost:
    """Look at it, for as many copies of the data directory as trials are to take, and what the
    server would be restarted from."""
    if not access.reaches_host:
        return OnHost()
    host = access.host()
    try:
        return _seen(session, access, rule, host, copies, restarts=restarts)
    except TargetError as error:
        return OnHost((str(error),))
    finally:
        host.close()


def _seen(
    session: Connection,
    access: Access,
    rule: ResetRule,
    host: Host,
    copies: int,
    *,
    restarts: bool,
) -> OnHost:
    server = locate(session, host)
    if access.control is None:
        return OnHost(data=server.data)
    refuse_elsewhere_than(session, server, access, host)
    access.control.refuse_other(host, server)
    if restarts:
        refuse_other_program(session, host, server.account, server.postmaster, access.control)
    memory = memory_of(host, session.info.backend_pid)
    if rule.level is not ResetLevel.SNAPSHOT:
        return OnHost(data=server.data, memory=memory)
    place = DataPlace(host, Service("", host, access.control, server))
    refuse_unmovable(place)
    if not copies:
        return OnHost(data=server.data, memory=memory)
    room = room_for(place, copies)
    refused = [] if room.fits or room.may_share else [room.lacking]
    return OnHost(tuple(refused), room, server.data, memory)
