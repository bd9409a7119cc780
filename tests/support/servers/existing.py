"""An existing server as tests of its settings use it: what it holds, what is left.

Enters: a lab server, sessions. Leaves: what postgresql.auto.conf holds. Never: leaves
a setting changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pgassay.server.existing.target import ExistingTarget
from support.servers.accounts import build_accounts
from support.servers.lab import LabServer, RecordingJournal, wait_until
from support.servers.sessions import connect


def nothing(_: object) -> None:
    """No data: what is asked is about settings."""


def auto_conf(server: LabServer) -> dict[str, str]:
    with server.admin() as session:
        rows = session.execute(
            "SELECT name, setting FROM pg_file_settings WHERE sourcefile ~ 'auto.conf$'"
        ).fetchall()
    return dict(rows)


@contextmanager
def settings_left_alone(server: LabServer) -> Iterator[None]:
    """Meanwhile nothing stays in its postgresql.auto.conf, or the test fails."""
    yield
    left = auto_conf(server)
    with server.admin() as session:
        session.execute("ALTER SYSTEM RESET ALL")
        session.execute("SELECT pg_reload_conf()")
        session.execute("DROP SCHEMA IF EXISTS pgassay CASCADE")
    assert left == {}


def die(target: ExistingTarget) -> None:
    """As if the process of its run were killed: the lock that it holds on the server is free."""
    control = target._control
    assert control is not None
    backend, parameters = control.info.backend_pid, target.parameters()
    control.close()

    def is_gone() -> bool:
        with connect(parameters) as session:
            row = session.execute("SELECT FROM pg_locks WHERE pid = %s", (backend,)).fetchone()
            return row is None

    wait_until(is_gone, "its session has ended")
    target._machine.close()


def killed_after_changes(server: LabServer, journal: RecordingJournal) -> None:
    killed = ExistingTarget(server.dsn(), journal, allow_changes=True)
    killed.open()
    killed.prepare(build_accounts, {"work_mem": "8MB"})
    killed.reset({"work_mem": "16MB"})
    die(killed)
