"""Trials on copies of an existing server's data directory: its own is never touched nor lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target.data_copy import MARK
from pgassay.target.protocol import Connection
from pgassay.target.recover import recover
from support.command import pgassay
from support.servers import RecordingJournal
from support.services import CONF_ROOT, DebianServer
from support.targets import ACCESS, copied, existing

BESIDE = "data.pgassay-*"


def build(session: Connection) -> None:
    session.execute("CREATE TABLE account AS SELECT i FROM generate_series(1, 100) i")


def own_rows(server: DebianServer) -> list[tuple[int]]:
    with server.admin() as session:
        return session.execute("SELECT i FROM public.own ORDER BY i").fetchall()


@pytest.fixture(autouse=True)
def untouched(
    debian: DebianServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """Every test leaves the server up on the very directory it had, with nothing beside it."""
    monkeypatch.setenv(CONF_ROOT, str(debian.conf))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with debian.admin() as session:
        session.execute("DROP TABLE IF EXISTS own")
        session.execute("CREATE TABLE own AS SELECT i FROM generate_series(1, 3) i")
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    before = (debian.data.stat().st_ino, debian.data.stat().st_mode, debian.file.read_bytes())
    yield
    after = (debian.data.stat().st_ino, debian.data.stat().st_mode, debian.file.read_bytes())
    assert after == before
    assert not (debian.data / MARK).exists()
    assert list(debian.data.parent.glob(BESIDE)) == []
    assert own_rows(debian) == [(1,), (2,), (3,)]
    with debian.admin() as session:
        assert session.execute("SELECT to_regnamespace('pgassay')").fetchone() == (None,)


@pytest.mark.parametrize("kind", ["pg_ctlcluster", "systemd", "pg_ctl", "ssh"])
def test_every_trial_has_the_data_of_the_first_and_its_own_settings(
    kind: str, debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    with closing(copied(existing(kind, debian, journal, request))) as target:
        target.open()
        target.prepare(build, {"max_wal_size": "2GB"})
        for memory in ("8MB", "9MB", None):
            report = target.reset({} if memory is None else {"work_mem": memory})
            assert report.restarted
            assert {"settings", "copy", "checkpoint"} <= report.phases.keys()
            with target.connect() as session:
                assert session.execute("SELECT count(*) FROM account").fetchone() == (100,)
                assert session.execute("SHOW work_mem").fetchone() == (memory or "6MB",)
                assert session.execute("SHOW max_wal_size").fetchone() == ("2GB",)
                session.execute("TRUNCATE account")
                session.execute("DELETE FROM public.own")
        report = target.reset({"shared_buffers": "24MB"})
        assert report.settings["shared_buffers"] == "24MB"
    assert journal.open == []


# Dies as by SIGKILL after its n-th step: a command on directories, a stop or a start.
DYING = """
import os, signal, sys
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.target.data_copy import DataPlace
from pgassay.target.service import Service
from support.targets import ACCESS, copied
from pgassay.target.existing import ExistingTarget

dsn, journal, kind, last = sys.argv[1:5]
left = int(last)

def counted(owner, name):
    plain = getattr(owner, name)
    def step(*words, **options):
        global left
        found = plain(*words, **options)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    setattr(owner, name, step)

target = copied(ExistingTarget(
    dsn, FileJournal(Path(journal)), allow_changes=True, accept=["commits", "sessions"],
    access=ACCESS[kind],
))
target.open()
for owner, names in ((DataPlace, ("run", "remove")), (Service, ("stop", "start"))):
    for name in names:
        counted(owner, name)
make = "CREATE TABLE account (i int)"
target.prepare(lambda session: session.execute(make), {"work_mem": "7MB"})
target.reset({"work_mem": "8MB"})
target.close()
print("steps", int(last) - left)
"""


def die_after(steps: int, debian: DebianServer, journal: Path, kind: str) -> str | None:
    """The driver, killed after so many steps; what it said where it came to its end."""
    words = [sys.executable, "-c", DYING, debian.dsn(), str(journal), kind, str(steps)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=env)
    if done.returncode == -9:
        return None
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("steps", range(1, 33))
def test_the_directory_comes_back_wherever_the_tool_was_killed(
    steps: int, debian: DebianServer, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    said = die_after(steps, debian, path, "pg_ctlcluster")
    changes = open_changes(path)
    assert said is None or not changes
    recover(debian.dsn(), changes, FileJournal(path), ACCESS["pg_ctlcluster"])
    assert open_changes(path) == []


def test_the_directory_comes_back_over_ssh_where_the_tool_was_killed_in_a_reset(
    debian: DebianServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("ssh_config")
    path = tmp_path / "journal.jsonl"
    assert die_after(20, debian, path, "ssh") is None
    recover(debian.dsn(), open_changes(path), FileJournal(path), ACCESS["ssh"])
    assert open_changes(path) == []


def test_a_directory_that_is_not_our_copy_is_left_and_told(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = copied(existing("pg_ctlcluster", debian, journal, request))
    target.open()
    target.prepare(build, {})
    mark = debian.data / MARK
    text = mark.read_text()
    mark.write_text("another's")
    with pytest.raises(RestoreFailed, match="is not the copy that this run made"):
        target.close()
    mark.write_text(text)
    target.close()
    assert journal.open == []


def test_the_next_run_is_told_of_a_copy_that_a_killed_run_left(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    dead = copied(existing("pg_ctlcluster", debian, journal, request))
    dead.open()
    dead.prepare(build, {})
    control, copies = dead._control, dead._copies
    assert control is not None
    assert copies is not None
    assert copies._lock is not None
    # Both locks die with their owner.
    control.close()
    copies._lock.release()
    with (
        closing(existing("pg_ctlcluster", debian, RecordingJournal(), request)) as following,
        pytest.raises(TargetError, match=r"on a copy of its data.*pgassay recover RUN"),
    ):
        following.open()
    copies._service.stop()
    with (
        closing(existing("pg_ctlcluster", debian, RecordingJournal(), request)) as following,
        pytest.raises(TargetError, match=r"on a copy, perhaps stopped: `pgassay recover RUN`"),
    ):
        following.open()
    recover(debian.dsn(), list(journal.open), journal, ACCESS["pg_ctlcluster"])
    assert journal.open == []


def test_what_lies_beside_is_removed_only_where_it_is_ours(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = copied(existing("pg_ctlcluster", debian, journal, request))
    target.open()
    target.prepare(build, {})
    prefix = journal.open[0].copy
    half, theirs = Path(f"{prefix}-work"), Path(f"{prefix}-spent")
    for folder in (half, theirs):
        folder.mkdir()
        (folder / "PG_VERSION").write_text("15\n")
        shutil.chown(folder, debian.data.owner(), debian.data.group())
    target.reset({})
    assert not half.exists()
    with pytest.raises(RestoreFailed, match=r"on its own data directory again.*is not a copy"):
        target.close()
    assert (theirs / "PG_VERSION").exists()
    shutil.rmtree(theirs)
    target.close()
    assert journal.open == []


def test_settings_of_others_that_wait_for_a_restart_stop_it(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    with debian.admin() as session:
        session.execute("ALTER SYSTEM SET max_connections = 77")
        session.execute("SELECT pg_reload_conf()")
    target = copied(existing("pg_ctlcluster", debian, journal, request))
    try:
        with closing(target):
            target.open()
            with pytest.raises(TargetError, match=r"others' changes into force.*max_connections"):
                target.prepare(build, {"work_mem": "7MB"})
    finally:
        with debian.admin() as session:
            session.execute("ALTER SYSTEM RESET max_connections")
            session.execute("SELECT pg_reload_conf()")
    assert journal.open == []


def test_a_server_that_takes_changes_from_another_is_refused(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    with debian.admin() as session:
        session.execute(
            "CREATE SUBSCRIPTION taker CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p"
            " WITH (connect = false, slot_name = 'taker')"
        )
        session.execute("ALTER SUBSCRIPTION taker ENABLE")
    target = copied(existing("pg_ctlcluster", debian, journal, request))
    try:
        target._accept = frozenset({"subscriptions", "commits", "sessions"})
        with closing(target), pytest.raises(TargetError, match="with enabled subscriptions"):
            target.open()
    finally:
        with debian.admin() as session:
            for change in ("DISABLE", "SET (slot_name = NONE)"):
                session.execute(f"ALTER SUBSCRIPTION taker {change}".encode())
            session.execute("DROP SUBSCRIPTION taker")
    assert journal.open == []


def test_a_server_whose_wal_goes_elsewhere_is_refused(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    with debian.admin() as session:
        session.execute("SELECT pg_create_physical_replication_slot('reader')")
    target = copied(existing("pg_ctlcluster", debian, journal, request))
    try:
        target._accept = frozenset({"slots", "commits", "sessions"})
        with closing(target), pytest.raises(TargetError, match="a server with replication slots"):
            target.open()
    finally:
        with debian.admin() as session:
            session.execute("SELECT pg_drop_replication_slot('reader')")
    assert journal.open == []


def test_a_link_in_the_data_directory_is_refused(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    link = debian.data / "link"
    link.symlink_to("/nowhere")
    try:
        with (
            closing(copied(existing("pg_ctlcluster", debian, journal, request))) as target,
            pytest.raises(TargetError, match=r"data/link of this host is a link"),
        ):
            target.open()
    finally:
        link.unlink()


SPEC = """
[target]
dsn = "{dsn}"
cluster = "15/lab"
allow_changes = true
allow_restart = true
allow_data_copy = true
accept = ["commits", "sessions"]
[reset]
level = "snapshot"
[workload]
use = "bank-write"
[factors.postgres]
work_mem = ["5MB", "9MB"]
[load]
clients = 2
step = "0.6s"
warmup = "0.2s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


def test_a_run_on_copies_is_planned_and_ends_with_the_directory_as_it_was(
    debian: DebianServer, tmp_path: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(dsn=debian.dsn()))
    planned = pgassay("plan", spec, COLUMNS="300")
    assert planned.returncode == 0, planned.stderr
    assert "stops:" not in planned.stdout
    assert "the data directory is kept aside and put back at the end" in planned.stdout
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    trials = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    assert [trial["reset"]["copied"] for trial in trials] == ["data directory"] * 4
    assert open_changes(run / "journal.jsonl") == []
