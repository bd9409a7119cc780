"""Real servers for the integration tests: the wheel's, Debian's, and one behind passwords.

Enters: what this machine has installed. Leaves: fixtures that clean up after themselves.
Never: touches /var/lib/pgassay or a server it did not start.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.server.hosts.account import Account, server_account
from pgassay.server.owned.installation import Installation
from support.hosts.sshd import Sshd, loopback_sshd
from support.memory import ON_DISK, memory_folder
from support.servers.debian import CONF_ROOT, DebianServer
from support.servers.lab import (
    LabServer,
    RecordingJournal,
    installation_named,
)
from support.servers.pool import ServerPool, server_pool
from support.servers.template import clusters_from_templates
from support.servers.untouched import left_untouched


@pytest.fixture(scope="session", autouse=True)
def lenient_guards() -> Iterator[None]:
    """Other tests that use the host at the same time make no trial invalid."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGASSAY_GUARDS", str(Path(__file__).parents[1] / "data" / "guards.toml"))
        yield


@pytest.fixture(scope="session", autouse=True)
def copied_clusters() -> Iterator[None]:
    """initdb makes each kind of cluster once."""
    with clusters_from_templates():
        yield


@pytest.fixture
def knobs_alone() -> Iterator[None]:
    """No other test process changes knobs of this host meanwhile."""
    with (Path(tempfile.gettempdir()) / "pgassay-tests-knobs.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def account() -> Account:
    return server_account()


@pytest.fixture(scope="module")
def server_installation(request: pytest.FixtureRequest) -> Installation:
    """PostgreSQL 18; with the mark `on_every_version` each version in turn."""
    return installation_named(getattr(request, "param", "embedded-18"))


@pytest.fixture(scope="session")
def servers_base() -> Iterator[Path]:
    """A directory the server's account can pass through, unlike pytest's own."""
    base = Path(tempfile.mkdtemp(prefix="pgassay-test-", dir=memory_folder()))
    base.chmod(0o711)
    yield base
    shutil.rmtree(base)


@pytest.fixture(scope="session", autouse=True)
def servers_of_runs(servers_base: Path) -> Iterator[None]:
    """Runs make their servers there too, where a test does not say otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGASSAY_DATA", str(servers_base))
        yield


@pytest.fixture
def own_base(servers_base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory in which this test's targets make their servers, empty at first: the servers
    that tests share are elsewhere, so a test can check that nothing is left."""
    base = Path(tempfile.mkdtemp(prefix="own-", dir=servers_base))
    base.chmod(0o711)
    monkeypatch.setenv("PGASSAY_DATA", str(base))
    yield base
    shutil.rmtree(base)


@pytest.fixture
def journal() -> RecordingJournal:
    return RecordingJournal()


@pytest.fixture(scope="session")
def shared_servers(account: Account, servers_base: Path) -> Iterator[ServerPool]:
    with server_pool(account, servers_base) as pool:
        yield pool


@pytest.fixture(scope="module")
def lab_server(server_installation: Installation, shared_servers: ServerPool) -> LabServer:
    """A server that later modules use too: as new when a module begins.

    A test may leave databases, roles and settings behind. One that damages files, or needs other
    files, starts a server with `running_lab_server`.
    """
    return shared_servers.lab(server_installation)


@pytest.fixture(scope="module")
def debian(shared_servers: ServerPool) -> DebianServer:
    """A cluster of Debian's pg_ctlcluster in a private place, shared like `lab_server`."""
    return shared_servers.debian()


@pytest.fixture
def untouched(
    debian: DebianServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """The test leaves that server up on the very directory it had, with nothing beside it."""
    with left_untouched(debian, monkeypatch, tmp_path):
        yield


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory, debian: DebianServer) -> Iterator[Sshd]:
    """A real sshd on loopback, whose sessions see that cluster."""
    with loopback_sshd(tmp_path_factory.mktemp("sshd"), {CONF_ROOT: str(debian.conf)}) as daemon:
        yield daemon


@pytest.fixture
def ssh_config(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> Sshd:
    """ssh of this test and of the tools it starts goes there."""
    monkeypatch.setenv("PGASSAY_SSH_CONFIG", str(sshd.config()))
    return sshd


@pytest.fixture
def disk_path() -> Iterator[Path]:
    """A folder as `tmp_path`, on a disk."""
    folder = Path(tempfile.mkdtemp(prefix="pgassay-test-", dir=ON_DISK))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def disk_base(disk_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Owned servers lie below it, on a disk: a file system in memory is never cold, keeps its pages
    whatever the limit, and truncates and syncs in no time."""
    disk_path.chmod(0o711)
    monkeypatch.setenv("PGASSAY_DATA", str(disk_path))
    return disk_path
