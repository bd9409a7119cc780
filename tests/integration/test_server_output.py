"""A server whose output pg_ctl could not open again is refused while it still runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pgassay.errors import TargetError
from pgassay.target.access import Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.local_host import HERE
from pgassay.target.located import running_in
from pgassay.target.service_control import PgCtl
from support.servers import RecordingJournal, is_root, wait_until
from support.services import BIN
from support.stopped_clusters import StoppedCluster


@contextmanager
def writing_to(output: int, cluster: StoppedCluster) -> Iterator[int]:
    """A server as its owner's shell starts it; its process."""
    own = cluster.account if is_root() else None
    server = subprocess.Popen(
        [BIN / "postgres", "-D", cluster.data],
        stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/",
        user=own.uid if own else None, group=own.gid if own else None,
    )  # fmt: skip
    try:
        wait_until(cluster.is_up, "the server is up")
        yield server.pid
    finally:
        cluster.stop()
        server.wait()


def target_on(cluster: StoppedCluster) -> ExistingTarget:
    return ExistingTarget(
        f"user=lab dbname=lab host={cluster.sockets}", RecordingJournal(),
        allow_changes=True, accept=["commits", "sessions"],
        access=Access(control=PgCtl(BIN), allow_restart=True, data=cluster.data),
    )  # fmt: skip


@pytest.mark.skipif(not is_root(), reason="takes a file that the server's account may not open")
def test_a_file_that_somebody_else_opened_for_it(cluster: StoppedCluster, tmp_path: Path) -> None:
    log = tmp_path / "of-root.log"
    with log.open("wb") as file:
        log.chmod(0o600)
        with (
            writing_to(file.fileno(), cluster) as postmaster,
            closing(target_on(cluster)) as target,
        ):
            with pytest.raises(TargetError, match=rf"{log} .*could not open again .*ermission"):
                target.open()
            assert running_in(HERE, cluster.data) == postmaster


def test_a_terminal(cluster: StoppedCluster) -> None:
    ours, theirs = os.openpty()
    try:
        with writing_to(theirs, cluster) as postmaster, closing(target_on(cluster)) as target:
            with pytest.raises(TargetError, match=r"/dev/pts/\d+ .*it is no regular file"):
                target.open()
            assert running_in(HERE, cluster.data) == postmaster
    finally:
        os.close(ours)
        os.close(theirs)


def test_nowhere_and_a_file_of_its_own_are_given_back(cluster: StoppedCluster) -> None:
    own = cluster.place / "own.log"
    for path in (Path(os.devnull), own):
        with path.open("ab") as file:
            if path == own:
                os.chown(own, cluster.account.uid, cluster.account.gid)
            with writing_to(file.fileno(), cluster) as first:
                with closing(target_on(cluster)) as target:
                    target.open()
                    target.prepare(lambda _: None, {"shared_buffers": "24MB"})
                last = running_in(HERE, cluster.data)
                assert last not in (None, first)
                assert Path(f"/proc/{last}/fd/2").resolve() == path
    own.unlink()
