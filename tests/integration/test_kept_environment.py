"""A server that is restarted keeps the environment that its owner had started it with, also where a
killed run has left it down; nothing of ours comes to it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.errors import SettingRejected, TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target.access import Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.local_host import HERE
from pgassay.target.located import Located, running_in
from pgassay.target.process_environment import STARTED_FOR, Environment, environment_of
from pgassay.target.protocol import Journal
from pgassay.target.recover import recover
from pgassay.target.service_control import PgCtl
from support.servers import RecordingJournal
from support.services import BIN, NAME, VERSION, DebianServer
from support.sshd import HOST
from support.stopped_clusters import StoppedCluster
from support.targets import copied, existing

SECRET = "hello 'you' $(id) \\n"
OWN = {
    "PATH": "/usr/bin:/bin",
    "FOO_KEEP": SECRET,
    "FOO_LINES": "one\ntwo\n\n",
    "FOO_BYTES": os.fsdecode(b"caf\xe9 \xff\t"),
    "LC_MESSAGES": "C.utf8",
    "LANGUAGE": "de",
    "EMPTY": "",
}
# Of those a file of ours may have these; the other ones could be anything.
KEEPABLE = ("PATH", "LC_MESSAGES", "LANGUAGE")
# Dies as by SIGKILL in a restart, with the command it waits for.
DYING = """
import os, signal, sys
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.target.access import Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.service_control import PgCtl
from support.data_copies import build
from support.services import BIN

data, journal, sockets, ssh = sys.argv[1:5]
access = Access(ssh=ssh or None, control=PgCtl(BIN), allow_restart=True, data=Path(data))
target = ExistingTarget(
    f"user=lab dbname=lab host={sockets}", FileJournal(Path(journal)), allow_changes=True,
    accept=["commits", "sessions"], access=access,
)
target.open()
target.prepare(build, {})
def stop_and_die(self, *where):
    self.stop(*where)
    os.kill(os.getpid(), signal.SIGKILL)
PgCtl.restart = stop_and_die
target.reset({}, restart=True)
"""
SET_BY_PG_CTL = {"PGDATA", "PGLOCALEDIR", "PGSYSCONFDIR", "PG_GRANDPARENT_PID", "PWD"}


@pytest.fixture(params=["here", "ssh"])
def ssh(request: pytest.FixtureRequest) -> str | None:
    if request.param == "here":
        return None
    request.getfixturevalue("ssh_config")
    return HOST


@pytest.fixture(autouse=True)
def of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What must not come to somebody's server."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/of/ours")


def started_with(cluster: StoppedCluster, environment: Environment) -> int:
    words: list[str | Path] = [BIN / "pg_ctl", "start", "-D", cluster.data, "-s", "-w"]
    words += ["-l", cluster.place / "hand.log"]
    done = cluster.account.run(words, limit_s=60, environment=environment)
    assert done.returncode == 0, done.stderr
    return postmaster_of(cluster)


def postmaster_of(cluster: StoppedCluster) -> int:
    postmaster = running_in(HERE, cluster.data)
    assert postmaster is not None
    return postmaster


def environment_now(cluster: StoppedCluster) -> dict[str, str]:
    seen = environment_of(HERE, postmaster_of(cluster))
    assert seen is not None
    return {name: value for name, value in seen.items() if name not in SET_BY_PG_CTL}


def access_to(cluster: StoppedCluster, ssh: str | None) -> Access:
    return Access(ssh=ssh, control=PgCtl(BIN), allow_restart=True, data=cluster.data)


def target_on(
    cluster: StoppedCluster, ssh: str | None, journal: Journal | None = None
) -> ExistingTarget:
    return ExistingTarget(
        f"user=lab dbname=lab host={cluster.sockets}", journal or RecordingJournal(),
        allow_changes=True, accept=["commits", "sessions"], access=access_to(cluster, ssh),
    )  # fmt: skip


@pytest.mark.parametrize("on_copies", [False, True], ids=["", "on copies"])
def test_a_restart_keeps_every_variable_and_brings_none_of_ours(
    cluster: StoppedCluster, ssh: str | None, on_copies: bool
) -> None:
    first = started_with(cluster, OWN)
    plain = target_on(cluster, ssh)
    with closing(copied(plain) if on_copies else plain) as target:
        target.open()
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
        second = postmaster_of(cluster)
        assert second != first
        assert environment_now(cluster) == OWN
    assert postmaster_of(cluster) not in (first, second)
    assert environment_now(cluster) == OWN
    cluster.stop()


def test_it_is_there_again_after_a_setting_that_kept_the_server_down(
    cluster: StoppedCluster, ssh: str | None
) -> None:
    started_with(cluster, OWN)
    with closing(target_on(cluster, ssh)) as target:
        target.open()
        with pytest.raises(SettingRejected):
            target.prepare(lambda _: None, {"shared_preload_libraries": "no_such_library"})
        assert environment_now(cluster) == OWN
    cluster.stop()


def test_what_a_run_has_started_keeps_its_mark_in_every_restart(
    cluster: StoppedCluster, ssh: str | None
) -> None:
    with closing(target_on(cluster, ssh)) as target:
        target.open()
        mark = environment_now(cluster)[STARTED_FOR]
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
        assert environment_now(cluster)[STARTED_FOR] == mark


def test_one_whose_environment_is_not_to_be_seen_is_refused(cluster: StoppedCluster) -> None:
    postmaster = started_with(cluster, OWN)
    log = cluster.place / "hand.log"
    server = Located(cluster.data, cluster.account.name, postmaster, log, collects=False)
    try:
        with pytest.raises(TargetError, match=r"target\.bin: the environment .* cannot be read"):
            PgCtl(BIN).refuse_other(HERE, server)
        assert SECRET not in repr(replace(server, environment=OWN))
    finally:
        cluster.stop()


@pytest.mark.parametrize("by_recover", [True, False], ids=["recover", "next run"])
def test_what_a_killed_run_has_left_down_comes_up_with_all_of_it_that_is_no_secret(
    cluster: StoppedCluster, ssh: str | None, by_recover: bool, tmp_path: Path
) -> None:
    started_with(cluster, OWN)
    journal = tmp_path / "dead" / "journal.jsonl"
    journal.parent.mkdir()
    words = ["-c", DYING, str(cluster.data), str(journal), str(cluster.sockets), ssh or ""]
    # Not a fork: what is in our environment here counts when Python starts.
    paths = os.pathsep.join(path for path in sys.path if path)
    died = subprocess.run(
        [sys.executable, *words], env=os.environ | {"PYTHONPATH": paths}, check=False,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert died.returncode == -9, died.stderr
    assert not cluster.is_up()
    (memory,) = (tmp_path / "state" / "pgassay" / "servers").glob("*.json")
    for file in (journal, memory):
        assert "$(id)" not in file.read_text()
    if by_recover:
        dsn = f"user=lab dbname=lab host={cluster.sockets}"
        access = access_to(cluster, ssh)
        notes = recover(dsn, open_changes(journal), FileJournal(journal), access)
    else:
        following = FileJournal(tmp_path / "next.jsonl")
        with closing(target_on(cluster, ssh, following)) as target:
            target.open()
            target.prepare(lambda _: None, {})
            notes = list(target.reset({}).notes)
    assert environment_now(cluster) == {name: OWN[name] for name in KEEPABLE}
    (note,) = notes
    assert "started without EMPTY, FOO_BYTES, FOO_KEEP, FOO_LINES of the environment" in note
    assert open_changes(journal) == []
    cluster.stop()


@pytest.mark.parametrize("kind", ["pg_ctlcluster", "ssh"])
def test_a_cluster_of_debian_has_what_its_own_file_says_and_nothing_of_ours(
    debian: DebianServer, kind: str, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    def environment() -> dict[str, str]:
        postmaster = running_in(HERE, debian.data)
        assert postmaster is not None
        seen = environment_of(HERE, postmaster)
        assert seen is not None
        return {name: value for name, value in seen.items() if name not in SET_BY_PG_CTL}

    file = debian.conf / VERSION / NAME / "environment"
    file.write_text("FOO_KEEP = 'of its own'\n")
    debian.ctl("restart")
    before = environment()
    assert before["FOO_KEEP"] == "of its own"
    with closing(existing(kind, debian, journal, request)) as target:
        target.open()
        target.prepare(lambda _: None, {"shared_buffers": "24MB"})
        assert environment() == before
    assert environment() == before
    assert not {"TZ", "LD_LIBRARY_PATH", "LC_ALL"} & before.keys()
