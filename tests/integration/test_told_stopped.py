"""What is believed and kept of a cluster that was found stopped: whose server runs there, what it
was last started with, and that it was started, also where a run is given up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target.access import Access
from pgassay.target.data_copy import DataCopies
from pgassay.target.data_place import DataPlace
from pgassay.target.existing import ExistingTarget
from pgassay.target.found_stopped import is_ours
from pgassay.target.host import Finished
from pgassay.target.local_host import HERE, LocalHost
from pgassay.target.located import PID_FILE, running_in
from pgassay.target.protocol import Change
from pgassay.target.recover import recover
from pgassay.target.service import Service
from pgassay.target.service_control import PgCtl
from pgassay.target.start_directory import last_options
from support.data_copies import build
from support.services import BIN
from support.stopped_clusters import StoppedCluster
from support.targets import copied


def access_to(cluster: StoppedCluster) -> Access:
    return Access(control=PgCtl(BIN), allow_restart=True, data=cluster.data)


def target_on(cluster: StoppedCluster, journal: Path) -> ExistingTarget:
    return ExistingTarget(
        "user=lab dbname=lab", FileJournal(journal), allow_changes=True,
        accept=["commits", "sessions"], access=access_to(cluster),
    )  # fmt: skip


@pytest.fixture
def running(cluster: StoppedCluster) -> Iterator[int]:
    cluster.start()
    postmaster = running_in(HERE, cluster.data)
    assert postmaster is not None
    yield postmaster
    cluster.stop()


def test_a_pid_file_that_names_another_clusters_server_is_believed_by_nobody(
    running: int, cluster: StoppedCluster, tmp_path: Path
) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    (crashed / PID_FILE).write_text(f"{running}\n")
    assert running_in(HERE, crashed) is None
    link = tmp_path / "link"
    link.symlink_to(cluster.data)
    assert running_in(HERE, link) == running


def test_an_environment_that_may_not_be_seen_is_nobodys(
    running: int, cluster: StoppedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = Change(id="1", what="server", do="", undo="", started=str(cluster.data))
    assert not is_ours(change, HERE)
    read = LocalHost.read

    def closed(self: LocalHost, path: Path, offset: int = 0) -> bytes:
        if path.name == "environ":
            raise PermissionError(13, "Permission denied")
        return read(self, path, offset)

    monkeypatch.setattr(LocalHost, "read", closed)
    assert not is_ours(change, HERE)  # its own account may look
    run = LocalHost.run

    def refused(self: LocalHost, words: Sequence[str | Path], **how: Any) -> Finished:
        return Finished([], 1, "", "no") if words[0] == "cat" else run(self, words, **how)

    monkeypatch.setattr(LocalHost, "run", refused)
    with pytest.raises(TargetError, match=rf"cannot be told \(/proc/{running}/environ: Permission"):
        is_ours(change, HERE)


def test_its_options_do_not_grow_with_every_start(cluster: StoppedCluster, tmp_path: Path) -> None:
    before = last_options(HERE, cluster.data)
    with closing(copied(target_on(cluster, tmp_path / "journal.jsonl"))) as target:
        target.open()
        target.prepare(build, {})
        target.reset({})
    assert last_options(HERE, cluster.data) == before


def test_one_that_is_down_is_not_told_to_run(
    cluster: StoppedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal.jsonl"
    target = target_on(cluster, journal)
    target.open()

    def gone(service: Service) -> None:
        cluster.stop()
        raise TargetError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(Service, "stop", gone)
        with pytest.raises(RestoreFailed, match=r"is down, but not shut down \(no room\); by hand"):
            target.close()
    assert [bool(one.started) for one in open_changes(journal)] == [True]
    recover("user=lab dbname=lab", open_changes(journal), FileJournal(journal), access_to(cluster))
    assert open_changes(journal) == []


def test_given_up_during_its_first_copy_its_start_is_not_forgotten(
    cluster: StoppedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal.jsonl"
    target = copied(target_on(cluster, journal))
    target.open()

    def ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DataPlace, "copy", ctrl_c)
        patch.setattr(DataCopies, "give_back", ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            target.prepare(build, {})
        with suppress(KeyboardInterrupt):
            target.close()
    # As when its process ends.
    assert target._copies is not None
    assert target._copies._lock is not None
    target._copies._lock.release()
    assert target._control is not None
    target._control.close()
    left = open_changes(journal)
    assert any(one.started for one in left)
    assert any(one.copy for one in left)
    recover("user=lab dbname=lab", left, FileJournal(journal), access_to(cluster))
    assert open_changes(journal) == []
