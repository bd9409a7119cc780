"""Servers that the tests of one process share: started once, as new for each module.

Enters: the account and the directory of the tests' servers. Leaves: a running server whose
databases, roles and settings are those of a new one. Never: lends a server that cannot be made as
new; it is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest

from pgassay.errors import PgassayError
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.server.protocol import Connection
from support.servers.debian import DebianServer, debian_server, make_debian_objects
from support.servers.lab import LabServer, make_lab_objects, running_lab_server

VERSIONS = (
    "embedded-18",
    "debian-15",
    *(
        pytest.param(name, marks=pytest.mark.heavy)
        for name in ("npm-13", "npm-14", "embedded-16", "npm-17")
    ),
)
on_every_version = pytest.mark.parametrize(
    "server_installation", VERSIONS, indirect=True, scope="module"
)
"""For tests of what differs between versions of PostgreSQL; the others run on version 18."""
on_newest_version = pytest.mark.parametrize(
    "server_installation",
    [
        "embedded-18",
        *(
            pytest.param(name, marks=pytest.mark.heavy)
            for name in ("debian-15", "npm-13", "npm-14", "embedded-16", "npm-17")
        ),
    ],
    indirect=True,
    scope="module",
)
"""For tests whose promise is the same on every version: only `make test-all` tries the others."""
on_debian_15 = pytest.mark.parametrize(
    "server_installation", ["debian-15"], indirect=True, scope="module"
)
"""For tests that need what the embedded servers lack, such as TLS."""

CONFIGURATION = ("postgresql.conf", "pgassay.conf", "pg_hba.conf", "pg_ident.conf")
FIRST_USER_OID = 16384
FIRST_ROLE_OID = 10
Server = TypeVar("Server", LabServer, DebianServer)


@dataclass
class _Lent:
    """A running server, what ends it, and what surrounded it when it was new."""

    server: LabServer | DebianServer
    ends: ExitStack
    surroundings: object


@dataclass
class ServerPool:
    """One server of each kind that was asked for."""

    account: Account
    base: Path
    _running: dict[Hashable, _Lent] = field(default_factory=dict)

    def lab(self, installation: Installation) -> LabServer:
        """The server of an installation; nothing of an earlier test is left on it."""
        return self._as_new(
            installation,
            lambda: running_lab_server(installation, self.account, self.base),
            lab_surroundings,
            make_lab_objects,
        )

    def debian(self) -> DebianServer:
        """The same of Debian's pg_ctlcluster."""
        return self._as_new(
            "debian",
            lambda: debian_server(self.base),
            debian_surroundings,
            make_debian_objects,
        )

    def close(self) -> None:
        """Stop and remove every server."""
        for lent in self._running.values():
            lent.ends.close()

    def _as_new(
        self,
        kind: Hashable,
        running: Callable[[], AbstractContextManager[Server]],
        surroundings: Callable[[Server], object],
        make_objects: Callable[[Connection], None],
    ) -> Server:
        lent = self._running.pop(kind, None)
        if lent is not None:
            server: Server = lent.server  # type: ignore[assignment]
            if lent.surroundings == surroundings(server) and emptied(server, make_objects):
                self._running[kind] = lent
                return server
            lent.ends.close()
        ends = ExitStack()
        server = ends.enter_context(running())
        self._running[kind] = _Lent(server, ends, surroundings(server))
        return server


@contextmanager
def server_pool(account: Account, base: Path) -> Iterator[ServerPool]:
    """A pool whose servers are gone afterwards."""
    pool = ServerPool(account, base)
    try:
        yield pool
    finally:
        pool.close()


def lab_surroundings(server: LabServer) -> object:
    """The text of each configuration file but that of ALTER SYSTEM."""
    data = server.cluster.workspace.data
    return {name: _text(data / name) for name in CONFIGURATION}


def debian_surroundings(server: DebianServer) -> object:
    """The configuration, what lies beside the data, and the environment of the postmaster."""
    files = {
        path: _text(path)
        for path in server.conf.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    pid = _text(server.data / "postmaster.pid").partition("\n")[0]
    environment = _text(Path("/proc") / (pid or "none") / "environ").split("\0")
    # pg_ctl gives every postmaster the number of its parent process.
    kept = {one for one in environment if not one.startswith("PG_GRANDPARENT_PID=")}
    return files, {path.name for path in server.data.parent.iterdir()}, kept


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def emptied(server: LabServer | DebianServer, make_objects: Callable[[Connection], None]) -> bool:
    """Whether databases, roles and settings could be made those of a new server."""
    try:
        with server.admin("template1") as session:
            session.execute("ALTER SYSTEM RESET ALL")
            session.execute("SELECT pg_reload_conf()")
            _drop_everything(session)
            session.execute("CREATE DATABASE postgres")
            make_objects(session)
            return _is_new(session)
    except (psycopg.Error, PgassayError, OSError):
        return False


def _drop_everything(session: Connection) -> None:
    session.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    session.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
    for what, query in (
        ("DROP DATABASE {} WITH (FORCE)", "datname FROM pg_database WHERE NOT datistemplate"),
        ("DROP DATABASE {}", "datname FROM pg_database WHERE datname !~ '^template[01]$'"),
        (
            "DROP ROLE {}",
            f"rolname FROM pg_roles WHERE oid <> {FIRST_ROLE_OID} AND rolname !~ '^pg_'",
        ),
        ("DROP TABLESPACE {}", f"spcname FROM pg_tablespace WHERE oid >= {FIRST_USER_OID}"),
    ):
        for (name,) in session.execute(f"SELECT {query}".encode()).fetchall():
            session.execute(psycopg.sql.SQL(what).format(psycopg.sql.Identifier(name)))


def _is_new(session: Connection) -> bool:
    """Whether nothing is left that cannot be dropped one by one."""
    row = session.execute(
        "SELECT (SELECT count(*) FROM pg_class WHERE oid >= %(first)s)"
        " + (SELECT count(*) FROM pg_db_role_setting)"
        " + (SELECT count(*) FROM pg_settings WHERE pending_restart)"
        " + (SELECT count(*) FROM pg_extension WHERE extname <> 'plpgsql')"
        " + (SELECT count(*) FROM pg_prepared_xacts)",
        {"first": FIRST_USER_OID},
    ).fetchone()
    return row == (0,)
