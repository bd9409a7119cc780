"""Whether a server is up, down, or changing between the two; and whether it accepts us.

Enters: where libpq goes. Leaves: what its postmaster answers, whatever language its messages have.
Never: takes a refusal for good (a password, a full server) for one that passes.
"""

from __future__ import annotations

import time

import psycopg
from psycopg.conninfo import make_conninfo

from pgassay.errors import ConnectionRefused
from pgassay.server.connection.session import connect, resolve
from pgassay.server.protocol import ConnectionParameters

POLL_S = 0.1
REFUSED_LIMIT_S = 5.0
"""How long one that is up may refuse us: after a start, sessions of others may fill it at once."""
# libpq knows a refusal's SQLSTATE and psycopg does not hand it on; a ping tells 57P03 (it starts,
# stops, recovers) from the rest.
_UP, _CHANGING = psycopg.pq.Ping.OK, psycopg.pq.Ping.REJECT


class Attempts:
    """Attempts to connect to a server, repeated until one succeeds or the time for them is over."""

    def __init__(self, server: str | ConnectionParameters) -> None:
        self._server = server
        self._refused_since: float | None = None

    def succeed(self) -> bool:
        """Returns whether a connection succeeds now; raises ConnectionRefused where the server is
        up and refuses this user for good: a password, a rule of pg_hba.conf, a database that is
        gone."""
        try:
            if isinstance(self._server, str):
                resolve(self._server)
            else:
                connect(self._server).close()
        except ConnectionRefused:
            now = time.monotonic()
            if not is_up(self._server):
                self._refused_since = None
            elif self._refused_since is None:
                # It may have come up between the two.
                self._refused_since = now
            elif now - self._refused_since > REFUSED_LIMIT_S:
                raise
            return False
        return True


def is_up(server: str | ConnectionParameters) -> bool:
    """Returns whether a server takes connections, though perhaps not those of this user."""
    return _ping(server) == _UP


def wait_while_changing(server: str | ConnectionParameters, limit_s: float) -> None:
    """Waits until a server that starts, stops or recovers from a crash is up or down, for at most a
    limit of time."""
    began = time.monotonic()
    while _ping(server) == _CHANGING and time.monotonic() - began < limit_s:
        time.sleep(POLL_S)


def _ping(server: str | ConnectionParameters) -> int:
    if not isinstance(server, str):
        server = make_conninfo(**{**server.for_psycopg(), "password": None})
    return psycopg.pq.PGconn.ping(server.encode())
