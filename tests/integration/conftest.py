"""Real servers for the integration tests: the wheel's, Debian's, and one behind passwords.

Enters: what this machine has installed. Leaves: fixtures that clean up after themselves.
Never: touches /var/lib/pgassay or a server it did not start.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.target.account import Account, server_account
from pgassay.target.installation import Installation
from support.data_copies import left_untouched
from support.servers import (
    INSTALLATIONS,
    LabServer,
    RecordingJournal,
    installation_named,
    running_lab_server,
)
from support.services import CONF_ROOT, DebianServer, debian_server
from support.sshd import Sshd, loopback_sshd
from support.stopped_clusters import StoppedCluster, left_stopped, stopped_cluster


@pytest.fixture(scope="session", autouse=True)
def lenient_guards() -> Iterator[None]:
    """What other tests do to the host at the same time costs no trial here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGASSAY_GUARDS", str(Path(__file__).parents[1] / "data" / "guards.toml"))
        yield


@pytest.fixture(scope="session", autouse=True)
def own_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What killed runs of these tests leave is nobody else's to undo."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("PGASSAY_HOST_MEMORY", str(tmp_path_factory.mktemp("host")))
        yield


@pytest.fixture
def knobs_alone() -> Iterator[None]:
    """No other test changes knobs of this host meanwhile, in whatever process it runs."""
    with (Path(tempfile.gettempdir()) / "pgassay-tests-knobs.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
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
def empty_base(servers_base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same, with nothing else in it: what is there afterwards was left by the test's runs."""
    base = Path(tempfile.mkdtemp(prefix="own-", dir=servers_base))
    base.chmod(0o711)
    monkeypatch.setenv("PGASSAY_DATA", str(base))
    yield base
    shutil.rmtree(base)


@pytest.fixture
def journal() -> RecordingJournal:
    return RecordingJournal()


@pytest.fixture(scope="module")
def lab_server(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    with running_lab_server(server_installation, account, servers_base) as server:
        yield server


@pytest.fixture(scope="module")
def debian(servers_base: Path) -> Iterator[DebianServer]:
    """A cluster of Debian's pg_ctlcluster in a private place."""
    with debian_server(servers_base) as server:
        yield server


@pytest.fixture
def untouched(
    debian: DebianServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """The test leaves that server up on the very directory it had, with nothing beside it."""
    with left_untouched(debian, monkeypatch, tmp_path):
        yield


@pytest.fixture(scope="module")
def at_rest(servers_base: Path, account: Account) -> Iterator[StoppedCluster]:
    """A cluster that is stopped."""
    with stopped_cluster(servers_base, account) as cluster:
        yield cluster


@pytest.fixture
def cluster(
    at_rest: StoppedCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[StoppedCluster]:
    """The same; every test leaves it stopped, as it was found."""
    with left_stopped(at_rest, monkeypatch, tmp_path):
        yield at_rest


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
