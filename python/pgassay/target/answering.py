"""Whether a server is up, down, or on its way; without a session.

Enters: where libpq goes. Leaves: what its postmaster says, in whatever language it speaks.
Never: takes a refusal for good (a password, a full server) for one that passes.
"""

from __future__ import annotations

import time

import psycopg
from psycopg.conninfo import make_conninfo

from pgassay.target.protocol import ConnectionParameters

POLL_S = 0.1
# libpq knows a refusal's SQLSTATE and psycopg does not hand it on; a ping tells 57P03 (it starts,
# stops, recovers) from the rest.
_UP, _ON_ITS_WAY = psycopg.pq.Ping.OK, psycopg.pq.Ping.REJECT


def is_up(server: str | ConnectionParameters) -> bool:
    """Whether it takes connections, though perhaps not ours."""
    return _ping(server) == _UP


def wait_while_on_its_way(server: str | ConnectionParameters, limit_s: float) -> None:
    """Until a server that starts, stops or recovers from a crash is up or down; at most so long."""
    began = time.monotonic()
    while _ping(server) == _ON_ITS_WAY and time.monotonic() - began < limit_s:
        time.sleep(POLL_S)


def _ping(server: str | ConnectionParameters) -> int:
    if not isinstance(server, str):
        server = make_conninfo(**{**server.for_psycopg(), "password": None})
    return psycopg.pq.PGconn.ping(server.encode())
