"""A server that `bin` restarts keeps the limits and priorities it was started with, not those of
our shell; where they cannot be given back it is refused while it still runs."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.errors import TargetError
from pgassay.target.access import Access
from pgassay.target.account import Account
from pgassay.target.existing import ExistingTarget
from pgassay.target.local_host import HERE
from pgassay.target.located import running_in
from pgassay.target.process_bounds import Bounds, as_before, bounds_of, parsed
from pgassay.target.service_control import PgCtl
from support.servers import RecordingJournal, is_root
from support.services import BIN
from support.sshd import HOST
from support.stopped_clusters import StoppedCluster
from support.targets import copied

OWN = "ulimit -c 0; ulimit -n 700; renice -n 5 -p $$ >/dev/null; echo 300 >/proc/self/oom_score_adj"
ALONE = "; taskset -cp 0 $$ >/dev/null"


@pytest.fixture(params=["here", "ssh"])
def ssh(request: pytest.FixtureRequest) -> str | None:
    if request.param == "here":
        return None
    request.getfixturevalue("ssh_config")
    return HOST


@pytest.fixture(autouse=True)
def more_files() -> Iterator[None]:
    """As a load with many connections makes room for them in our process."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def started_with(cluster: StoppedCluster, own: str) -> Bounds:
    """As its owner does in a shell that has these."""
    words: list[str | Path] = ["sh", "-c", f'{own}; exec "$@"', "sh", BIN / "pg_ctl", "start"]
    log = cluster.place / "hand.log"
    cluster.account.require([*words, "-D", cluster.data, "-s", "-w", "-l", log], limit_s=60)
    return bounds_now(cluster)


def bounds_now(cluster: StoppedCluster) -> Bounds:
    postmaster = running_in(HERE, cluster.data)
    assert postmaster is not None
    found = bounds_of(HERE, postmaster)
    assert found is not None
    return found


def target_on(cluster: StoppedCluster, ssh: str | None) -> ExistingTarget:
    access = Access(ssh=ssh, control=PgCtl(BIN), allow_restart=True, data=cluster.data)
    return ExistingTarget(
        f"user=lab dbname=lab host={cluster.sockets}", RecordingJournal(),
        allow_changes=True, accept=["commits", "sessions"], access=access,
    )  # fmt: skip


@pytest.mark.skipif(not is_root(), reason="takes a higher priority than ours at each start")
@pytest.mark.parametrize("on_copies", [False, True], ids=["", "on copies"])
def test_a_restart_gives_them_back(
    cluster: StoppedCluster, ssh: str | None, on_copies: bool
) -> None:
    found = started_with(cluster, OWN + ALONE)
    assert (found.nice, found.oom, found.cpus) == ("5", "300", "0")
    assert (found.limits["core"], found.limits["nofile"]) == ("0:0", "700:700")
    plain = target_on(cluster, ssh)
    with closing(copied(plain) if on_copies else plain) as target:
        target.open()
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
        assert bounds_now(cluster) == found
    assert bounds_now(cluster) == found
    assert Path(f"/proc/{running_in(HERE, cluster.data)}").owner() == cluster.account.name
    cluster.stop()


def test_what_cannot_be_given_back_is_named_while_the_server_runs(
    cluster: StoppedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.start()
    before = running_in(HERE, cluster.data)
    found = bounds_now(cluster)
    # A processor that nobody has.
    absent = replace(found, cpus=str(os.cpu_count() or 1))
    monkeypatch.setattr("pgassay.target.located.bounds_of", lambda *_: absent)
    with (
        closing(target_on(cluster, None)) as target,
        pytest.raises(TargetError, match=r"was started with \(CPUs \d+ \(now .*name its service"),
    ):
        target.open()
    assert running_in(HERE, cluster.data) == before
    cluster.stop()


def test_nothing_is_put_before_a_start_that_would_have_the_same(account: Account) -> None:
    child = HERE.run(
        ["sh", "-c", "cd /proc/self; cat limits status stat oom_score_adj"], user=account.name
    )
    same = parsed(child.stdout)
    assert same is not None
    for wanted in (None, same):
        assert as_before(HERE, account.name, wanted) == ([], account.name)
