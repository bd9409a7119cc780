"""Which server a change was made on, of several that have one system identifier.

Enters: a session, the address it reached, the host that the spec names. Leaves: a `Seat`, and what
tells two apart. Never: takes one server for two where nothing it knows says so.

An identifier is not unique: cp -a, pg_basebackup and a virtual machine's clone keep it, and so does
a standby that is promoted.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.host import Host
from pgassay.target.protocol import Change, Connection, ConnectionParameters
from pgassay.target.statements import statement

_HERE = "localhost"


@dataclass(frozen=True)
class Seat:
    """Where a server is; what is empty is not known, and tells nothing."""

    data: str = ""
    """Its data directory, as the server tells it to those who may see it."""
    address: str = ""
    """Where it was reached, one name for all the ways within this machine."""
    host: str = ""
    """Its host, as ssh knows it."""

    def is_apart(self, other: Seat) -> bool:
        """Whether the two are certainly two servers."""
        if _differ(self.data, other.data) or _differ(self.host, other.host):
            return True
        # Behind one name for ssh the end of a tunnel may be anywhere.
        return not (self.host and other.host) and _differ(self.address, other.address)

    def kept(self) -> Mapping[str, str]:
        """For a change."""
        return {name: value for name, value in asdict(self).items() if value}

    def __str__(self) -> str:
        where = " of ".join(part for part in (self.data, self.host) if part)
        return ", ".join(part for part in (where, self.address) if part) or "not known where"


def seat_here(session: Connection, reached: ConnectionParameters, host: Host) -> Seat:
    """That of the server of a session."""
    row = session.execute(statement("server")).fetchone()
    data = str(row[2] or "") if row else ""
    if data.startswith("/"):
        # The host may be another, or out of reach, or it is not ours to see.
        with suppress(OSError, TargetError):
            data = str(host.resolve(Path(data)))
    return Seat(data, _address(reached), host.name)


def seat_of(change: Change) -> Seat:
    """That of the server a change was made on; what a version before this kept knows none."""
    known = Seat()
    return Seat(**{name: str(change.seat.get(name, "")) for name in asdict(known)})


def is_elsewhere(change: Change, here: Seat) -> bool:
    """Whether a change was made on another server than this."""
    return seat_of(change).is_apart(here)


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and one != other


def _address(reached: ConnectionParameters) -> str:
    where = reached.hostaddr or reached.host
    return f"{_HERE if _is_here(where) else where}:{reached.port}"


def _is_here(where: str) -> bool:
    """Whether it is a socket, or an address of this machine: nobody can take another's."""
    if where.startswith(("/", "@")):
        return True
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(where).version == 6 else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((where, 0))
    except (OSError, ValueError):
        return False
    return True
