"""`bin` is held against the very program of a server: another build may tell the same version."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import TargetError
from pgassay.target.access import Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.local_host import HERE
from pgassay.target.located import running_in
from pgassay.target.service_control import PgCtl
from support.servers import RecordingJournal
from support.services import BIN
from support.sshd import HOST
from support.stopped_clusters import StoppedCluster


@pytest.fixture(params=["here", "ssh"])
def ssh(request: pytest.FixtureRequest) -> str | None:
    if request.param == "here":
        return None
    request.getfixturevalue("ssh_config")
    return HOST


@pytest.fixture
def patched(cluster: StoppedCluster) -> Iterator[Path]:
    """A bin directory of the same version, and another build."""
    folder = cluster.place / "patched"
    shutil.copytree(BIN, folder)
    yield folder
    shutil.rmtree(folder)


def target_on(cluster: StoppedCluster, ssh: str | None, programs: Path) -> ExistingTarget:
    access = Access(ssh=ssh, control=PgCtl(programs), allow_restart=True, data=cluster.data)
    return ExistingTarget(
        f"user=lab dbname=lab host={cluster.sockets}", RecordingJournal(),
        allow_changes=True, accept=["commits", "sessions"], access=access,
    )  # fmt: skip


def refused(cluster: StoppedCluster, ssh: str | None, programs: Path, right: Path) -> None:
    with (
        closing(target_on(cluster, ssh, programs)) as target,
        pytest.raises(
            TargetError, match=rf"another program than .* bin = '{re.escape(str(right))}'"
        ),
    ):
        target.open()


def test_of_one_that_runs(cluster: StoppedCluster, ssh: str | None, patched: Path) -> None:
    cluster.start()
    before = running_in(HERE, cluster.data)
    refused(cluster, ssh, patched, BIN)
    assert running_in(HERE, cluster.data) == before
    cluster.stop()


def test_of_one_that_is_stopped(cluster: StoppedCluster, ssh: str | None, patched: Path) -> None:
    refused(cluster, ssh, patched, BIN)
    assert not cluster.is_up()


def test_another_name_of_the_same_program_is_none(cluster: StoppedCluster, ssh: str | None) -> None:
    link = cluster.place / "link"
    link.symlink_to(BIN)
    cluster.start()
    with closing(target_on(cluster, ssh, link)) as target:
        target.open()
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
    link.unlink()
    cluster.stop()
    cluster.start()
    cluster.stop()
