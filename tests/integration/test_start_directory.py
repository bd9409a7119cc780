"""A server that was started by hand with paths that begin where it was started is restarted there;
one of which that cannot be told is refused while it still runs."""

from __future__ import annotations

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
from pgassay.target.start_directory import last_options, words_of
from support.servers import RecordingJournal
from support.services import BIN
from support.sshd import HOST
from support.stopped_clusters import StoppedCluster
from support.targets import copied


@pytest.fixture(params=["here", "ssh"])
def ssh(request: pytest.FixtureRequest) -> str | None:
    if request.param == "here":
        return None
    request.getfixturevalue("ssh_config")
    return HOST


@pytest.fixture(autouse=True)
def forgotten_start(cluster: StoppedCluster) -> Iterator[None]:
    """The options of its last start are those of the other tests again."""
    yield
    cluster.start()
    cluster.stop()


def started_from(place: Path, cluster: StoppedCluster, *words: str) -> int:
    """As its owner does in a shell."""
    started: list[str | Path] = ["sh", "-c", 'cd "$1"; shift; exec "$@"', "sh", place]
    log = cluster.place / "hand.log"
    started += [BIN / "pg_ctl", "start"]
    cluster.account.require([*started, "-s", "-w", "-l", log, *words], limit_s=60)
    return postmaster_of(cluster)


def postmaster_of(cluster: StoppedCluster) -> int:
    postmaster = running_in(HERE, cluster.data)
    assert postmaster is not None
    return postmaster


def target_on(cluster: StoppedCluster, ssh: str | None) -> ExistingTarget:
    access = Access(ssh=ssh, control=PgCtl(BIN), allow_restart=True, data=cluster.data)
    return ExistingTarget(
        f"user=lab dbname=lab host={cluster.sockets}", RecordingJournal(), allow_changes=True,
        accept=["commits", "sessions"], access=access,
    )  # fmt: skip


@pytest.mark.parametrize("on_copies", [False, True], ids=["", "on copies"])
@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("", ["-D", "data"]),
        ("data", ["-D", "."]),
        ("run", ["-D", "../data"]),
        ("", ["-D", "data", "-o", "-c config_file=data/postgresql.conf"]),
    ],
)
def test_a_server_is_restarted_where_it_was_started(
    cluster: StoppedCluster, ssh: str | None, inside: str, words: list[str], on_copies: bool
) -> None:
    first = started_from(cluster.place / inside, cluster, *words)
    options = words_of(last_options(HERE, cluster.data))
    plain = target_on(cluster, ssh)
    with closing(copied(plain) if on_copies else plain) as target:
        target.open()
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
        assert postmaster_of(cluster) != first
    assert words_of(last_options(HERE, cluster.data))[-len(options) :] == options
    cluster.stop()


def test_one_that_was_stopped_is_started_there(cluster: StoppedCluster, ssh: str | None) -> None:
    started_from(cluster.place, cluster, "-D", "data")
    cluster.stop()
    with closing(target_on(cluster, ssh)) as target:
        target.open()
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
        assert cluster.is_up()
    assert not cluster.is_up()


def test_one_whose_place_is_gone_is_refused_and_runs_on(cluster: StoppedCluster) -> None:
    place = cluster.place / "place"
    place.mkdir(mode=0o755)
    shutil.copy(cluster.data / "postgresql.conf", place / "own.conf")
    (place / "own.conf").chmod(0o644)
    options = ["-D", "../data", "-o", "-c config_file=own.conf"]
    postmaster = started_from(place, cluster, *options)
    shutil.rmtree(place)
    words = r"started with -D \.\./data, config_file own\.conf .* a directory that cannot be told"
    with (
        closing(target_on(cluster, None)) as target,
        pytest.raises(TargetError, match=words),
    ):
        target.open()
    assert postmaster_of(cluster) == postmaster
    cluster.stop()
