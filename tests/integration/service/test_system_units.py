"""A server that belongs to a unit of systemd is not restarted past it."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from pgassay.errors import TargetError
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.server_process import ServerProcess
from pgassay.server.service.control import DebianCluster
from pgassay.server.service.restartable import refuse_leaving_unit
from support.refusals import refused
from support.runs.targets import CLUSTER, existing
from support.servers.debian import DebianServer
from support.servers.lab import RecordingJournal, is_root, wait_until

TREES = [Path("/sys/fs/cgroup/systemd"), Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")]
SLICE = "pgassay-test.slice"


def moved(group: Path, pid: int) -> None:
    (group / "cgroup.procs").write_text(str(pid))


@pytest.fixture
def in_unit(debian: DebianServer) -> Iterator[Callable[[str], int]]:
    """Puts the server into the control group of a unit; afterwards it runs outside, as it was."""
    if not is_root():
        pytest.skip("only root makes control groups")
    tree = next((one for one in TREES if (one / "cgroup.procs").exists()), None)
    top = None if tree is None else tree / f"{os.getpid()}-{SLICE}"
    try:
        assert top is not None
        top.mkdir()
    except (AssertionError, OSError) as error:
        pytest.skip(f"no control group can be made here: {error}")
    groups: list[Path] = []

    def put(unit: str) -> int:
        group = top / unit
        group.mkdir()
        groups.append(group)
        postmaster = int((debian.data / "postmaster.pid").read_text().split()[0])
        for process in [psutil.Process(postmaster), *psutil.Process(postmaster).children()]:
            with suppress(OSError):  # a worker that has just ended
                moved(group, process.pid)
        return postmaster

    try:
        yield put
    finally:
        debian.ctl("restart")
        for group in [*groups, top]:
            wait_until(partial(_removed, group), f"{group} is empty")


def _removed(group: Path) -> bool:
    with suppress(OSError):
        group.rmdir()
    return not group.exists()


def test_pg_ctlcluster_does_not_take_a_server_out_of_the_unit_of_its_manager(
    debian: DebianServer,
    in_unit: Callable[[str], int],
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
) -> None:
    before = in_unit("patroni.service")
    target = existing("pg_ctlcluster", debian, journal, request)
    words = r"target\.cluster: .* patroni\.service .*take a server that patroni does not look after"
    with closing(target), pytest.raises(TargetError, match=words):
        target.open()
    assert journal.changes == []
    assert int((debian.data / "postmaster.pid").read_text().split()[0]) == before


def test_only_roots_pg_ctlcluster_goes_through_the_clusters_own_unit(
    debian: DebianServer, in_unit: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PG_CLUSTER_CONF_ROOT", str(debian.conf))
    server = ServerProcess(
        debian.data, debian.account, in_unit("postgresql@15-lab.service"), None, True
    )
    CLUSTER.refuse_other(HERE, server)
    assert "outside of it after a restart" in _said_as(debian.account, CLUSTER, server)


def _said_as(account: str, cluster: DebianCluster, server: ServerProcess) -> str:
    """The message of `refuse_other` under another account, in a child process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            entry = pwd.getpwnam(account)
            os.setgroups([])
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            cluster.refuse_other(HERE, server)
        except BaseException as error:
            said = str(error)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as output:
        said = output.read()
    os.waitpid(child, 0)
    return said


def test_a_server_in_our_own_unit_may_be_restarted(
    debian: DebianServer, in_unit: Callable[[str], int]
) -> None:
    server = ServerProcess(debian.data, debian.account, in_unit("runner.service"), None, True)
    with refused("server-in-a-foreign-unit", unit="runner.service", name="runner"):
        refuse_leaving_unit(HERE, server, "cluster")
    (group,) = (one for tree in TREES for one in tree.glob(f"{os.getpid()}-{SLICE}/*.service"))
    child = os.fork()
    if child == 0:
        moved(group, os.getpid())
        try:
            refuse_leaving_unit(HERE, server, "cluster")
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
