"""A client that connects and never authenticates does not count as an active session."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from pgassay.server.connection.session import resolve
from pgassay.trials.sampling.samplers import open_sampler
from support.servers.lab import LabServer, wait_until

TICKS = 20
PROTOCOL = 3 << 16


@contextmanager
def half_open(server: LabServer) -> Iterator[None]:
    """A connection that sent its startup packet and never answers the request for a password."""
    names = b"user\0lab\0database\0lab\0\0"
    with socket.create_connection(("127.0.0.1", server.port)) as stream:
        stream.sendall(struct.pack("!II", 8 + len(names), PROTOCOL) + names)
        assert stream.recv(1) == b"R"
        yield


def states(server: LabServer) -> set[tuple[str, str]]:
    with server.admin() as session:
        rows = session.execute(
            "SELECT state, wait_event_type FROM pg_stat_activity"
            " WHERE backend_type = 'client backend'"
        ).fetchall()
    return {(row[0], row[1]) for row in rows}


def test_a_connection_that_never_authenticates_is_not_an_active_session(
    lab_server: LabServer,
) -> None:
    parameters = resolve(lab_server.dsn())
    with psycopg.connect(lab_server.dsn()) as working, half_open(lab_server):
        working.execute("SELECT 1")
        # PostgreSQL 18 is the first version that shows a session while it authenticates.
        wait_until(lambda: ("starting", "Client") in states(lab_server), "a session that starts")
        sampler, _ = open_sampler(
            parameters, working.info.server_version, load=None, waits_every_s=0.02
        )
        try:
            wait_until(lambda: json.loads(sampler.cost())["wait_ticks"] >= TICKS, "ticks")
        finally:
            sampler.stop()
        waits = sampler.take_waits()
        clients = {
            pid
            for pid, kind in zip(waits["pid"], waits["backend_type"], strict=True)
            if kind == "client backend"
        }
        # The other session is idle in a transaction, which keeps its locks and its snapshot.
        assert clients == {working.info.backend_pid}
        assert "starting" not in waits["state"]
