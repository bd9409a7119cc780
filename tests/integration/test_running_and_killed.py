"""A tool that is killed while it works on a cluster that its data directory names and that ran:
what it has left is undone by `recover` and by the next run, and the cluster goes on running."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import ConnectionRefused
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target import existing as existing_room
from pgassay.target.access import Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.preview import preview_existing
from pgassay.target.protocol import NOTHING
from pgassay.target.recover import recover
from pgassay.target.service_control import PgCtl
from support import forked
from support.broken_runs import postmasters_below
from support.data_copies import build
from support.services import BIN
from support.stopped_clusters import StoppedCluster

ACCEPT = ("commits", "sessions")
DSN = "user=lab dbname=lab"

# Dies as by SIGKILL in a restart that stands still half-way, or between two renames of a reset.
DYING = """
import json, os, signal, sys
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.target import existing as existing_room
from pgassay.target.access import Access
from pgassay.target.data_place import DataPlace
from pgassay.target.existing import ExistingTarget
from pgassay.target.service_control import PgCtl
from support.data_copies import build
from support.services import BIN
from support.targets import copied

data, journal, settings, copies = sys.argv[1:5]
target = ExistingTarget(
    "user=lab dbname=lab", FileJournal(Path(journal)), allow_changes=True,
    accept=["commits", "sessions"],
    access=Access(control=PgCtl(BIN), allow_restart=True, data=Path(data)),
)
if copies:
    target = copied(target)
target.open()
target.check_settings(json.loads(settings))
target.prepare(build, {})
plain = DataPlace.set_aside
def stop_and_die(self, *where):
    self.stop(*where)
    os.kill(os.getpid(), signal.SIGKILL)
def move_and_die(self):
    plain(self)
    os.kill(os.getpid(), signal.SIGKILL)
PgCtl.restart, DataPlace.set_aside = stop_and_die, move_and_die
target.reset(json.loads(settings), restart=True)
"""


@pytest.fixture
def running(cluster: StoppedCluster) -> Iterator[StoppedCluster]:
    """It runs, and does so afterwards, as it was found."""
    cluster.start()
    yield cluster
    assert cluster.is_up()
    with cluster.admin() as session:
        assert session.execute("SHOW shared_buffers").fetchone() == ("128MB",)
        assert session.execute("SHOW shared_preload_libraries").fetchone() == ("",)
    cluster.stop()


def access_to(cluster: StoppedCluster, *, allow_restart: bool = True) -> Access:
    return Access(control=PgCtl(BIN), allow_restart=allow_restart, data=cluster.data)


def following(
    cluster: StoppedCluster, folder: Path, *, allow_restart: bool = True
) -> ExistingTarget:
    """The target of the run that comes next."""
    return ExistingTarget(
        DSN, FileJournal(folder / "next.jsonl"), allow_changes=True, accept=ACCEPT,
        access=access_to(cluster, allow_restart=allow_restart),
    )  # fmt: skip


def left_down(
    cluster: StoppedCluster,
    folder: Path,
    settings: Mapping[str, str] = NOTHING,
    *,
    copies: bool = False,
) -> Path:
    """The journal of a run that was killed there; the server is down."""
    journal = folder / "dead" / "journal.jsonl"
    journal.parent.mkdir()
    words = [
        str(cluster.data),
        str(journal),
        json.dumps(dict(settings)),
        "copies" if copies else "",
    ]
    died = forked.run(["-c", DYING, *words])
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert cluster.data.exists() is not copies
    assert postmasters_below(cluster.place) == []
    return journal


def mend(then: str, cluster: StoppedCluster, journal: Path, folder: Path) -> None:
    if then == "recover":
        access = access_to(cluster)
        assert recover(DSN, open_changes(journal), FileJournal(journal), access) == []
    else:
        with closing(following(cluster, folder)) as target:
            target.open()
            assert open_changes(journal) == []
            target.prepare(build, {})
            (note,) = target.reset({}).notes
            assert "a run " in note
            assert "killed" in note
            assert target.reset({}).notes == (), "it is told once"
        assert open_changes(folder / "next.jsonl") == []
    assert open_changes(journal) == []


LEFT: dict[str, dict[str, str]] = {
    "in a restart": {},
    "in a restart with a setting": {"shared_buffers": "64MB"},
    "with a setting that keeps it down": {"shared_preload_libraries": "no_such_library"},
}


@pytest.mark.parametrize("then", ["recover", "the next run"])
@pytest.mark.parametrize("left", LEFT)
def test_one_that_ran_is_started_again_and_goes_on_running(
    left: str, then: str, running: StoppedCluster, tmp_path: Path
) -> None:
    journal = left_down(running, tmp_path, LEFT[left])
    mend(then, running, journal, tmp_path)


@pytest.mark.parametrize("then", ["recover", "the next run"])
def test_one_that_has_no_directory_between_two_copies_gets_its_own_back(
    then: str, running: StoppedCluster, tmp_path: Path
) -> None:
    journal = left_down(running, tmp_path, copies=True)
    with pytest.raises(ConnectionRefused, match=r"a run gives it back before all else$"):
        preview_existing(
            DSN, accept=ACCEPT, settings={}, building_sql=(), access=access_to(running)
        )
    mend(then, running, journal, tmp_path)


def test_a_run_that_may_not_restart_it_names_who_may(
    running: StoppedCluster, tmp_path: Path
) -> None:
    journal = left_down(running, tmp_path)
    words = r"left it down in a restart .*: `pgassay recover RUN` starts it"
    with (
        closing(following(running, tmp_path, allow_restart=False)) as target,
        pytest.raises(ConnectionRefused, match=words),
    ):
        target.open()
    assert not running.is_up()
    mend("recover", running, journal, tmp_path)


@pytest.mark.parametrize("copies", [False, True], ids=["in a restart", "between two copies"])
def test_the_host_is_put_back_before_it_is_started(
    copies: bool, running: StoppedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = left_down(running, tmp_path, copies=copies)
    was_up: list[bool] = []
    monkeypatch.setattr(existing_room, "sweep_host", lambda _: was_up.append(running.is_up()))
    mend("the next run", running, journal, tmp_path)
    assert was_up == [False]
