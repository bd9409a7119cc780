"""A server of the user's that a test must leave as it found it.

Enters: a Debian cluster. Leaves: the test's part, then a check that the server is up with its data
and settings. Never: starts a server itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.servers.debian import CONF_ROOT, DebianServer


def own_rows(server: DebianServer) -> list[tuple[int]]:
    with server.admin() as session:
        return session.execute("SELECT i FROM public.own ORDER BY i").fetchall()


@contextmanager
def left_untouched(server: DebianServer, patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """Afterwards the server is up on its own directory, with its rows and without our schema."""
    patch.setenv(CONF_ROOT, str(server.conf))
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    with server.admin() as session:
        session.execute("DROP TABLE IF EXISTS own")
        session.execute("CREATE TABLE own AS SELECT i FROM generate_series(1, 3) i")
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    before = _directory(server)
    yield
    assert _directory(server) == before
    assert own_rows(server) == [(1,), (2,), (3,)]
    with server.admin() as session:
        assert session.execute("SELECT to_regnamespace('pgassay')").fetchone() == (None,)


def _directory(server: DebianServer) -> tuple[int, int, bytes]:
    found = server.data.stat()
    return found.st_ino, found.st_mode, server.file.read_bytes()
