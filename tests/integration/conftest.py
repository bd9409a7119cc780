"""Real servers for the integration tests: the wheel's, Debian's, and one behind passwords.

Enters: what this machine has installed. Leaves: fixtures that clean up after themselves.
Never: touches /var/lib/pgassay or a server it did not start.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.target.account import Account, server_account
from pgassay.target.cluster import Cluster
from pgassay.target.installation import Installation
from pgassay.target.readable_copy import runnable_by
from pgassay.target.workspace import make_workspace, new_name
from support.servers import (
    INSTALLATIONS,
    LabServer,
    RecordingJournal,
    installation_named,
    started_on_a_free_port,
)


@pytest.fixture(scope="session", autouse=True)
def lenient_guards() -> Iterator[None]:
    """What other tests do to the host at the same time costs no trial here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGASSAY_GUARDS", str(Path(__file__).parents[1] / "data" / "guards.toml"))
        yield


@pytest.fixture(scope="session")
def account() -> Account:
    return server_account()


@pytest.fixture(scope="module", params=INSTALLATIONS)
def server_installation(request: pytest.FixtureRequest) -> Installation:
    """Each PostgreSQL of this machine that the tests know."""
    return installation_named(request.param)


@pytest.fixture(scope="session")
def servers_base() -> Iterator[Path]:
    """A directory the server's account can pass through, unlike pytest's own."""
    # In memory where that is to be had: these tests copy and sync, they measure nothing.
    memory = Path("/dev/shm")  # noqa: S108 (mkdtemp makes the name)
    base = Path(
        tempfile.mkdtemp(prefix="pgassay-test-", dir=memory if os.access(memory, os.W_OK) else None)
    )
    base.chmod(0o711)
    yield base
    shutil.rmtree(base)


@pytest.fixture
def own_base(servers_base: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Targets opened by this test put their servers there."""
    monkeypatch.setenv("PGASSAY_DATA", str(servers_base))
    return servers_base


@pytest.fixture
def journal() -> RecordingJournal:
    return RecordingJournal()


@pytest.fixture(scope="module")
def lab_server(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    installation = runnable_by(server_installation, account)
    cluster = Cluster(installation, make_workspace(account, servers_base, new_name()))
    try:
        cluster.create()
        rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        account.require(["tee", cluster.workspace.data / "pg_hba.conf"], text=rules, limit_s=10)
        server = LabServer(cluster, started_on_a_free_port(cluster))
        with server.admin("postgres") as session:
            session.execute("SET password_encryption = 'scram-sha-256'")
            session.execute("CREATE ROLE lab LOGIN SUPERUSER PASSWORD 's3cret word'")
            session.execute("CREATE ROLE plain LOGIN PASSWORD 's3cret word'")
            session.execute("CREATE DATABASE lab OWNER plain")
            session.execute("CREATE DATABASE other")
        yield server
    finally:
        cluster.stop(gently=False)
        cluster.workspace.remove()
