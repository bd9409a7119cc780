"""What a killed run has left on a copy of its data directory, the next run gives back."""

from __future__ import annotations

import re
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgassay.errors import ConnectionRefused, ServesSomebody, TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target import left_on_copy
from pgassay.target.access import Access
from pgassay.target.data_place import MARK
from pgassay.target.existing import ExistingTarget
from pgassay.target.protocol import ConnectionParameters
from pgassay.target.recover import recover
from pgassay.target.service_control import DebianCluster
from pgassay.target.session import resolve
from support.broken_runs import watched
from support.command import pgassay
from support.data_copies import SPEC, build, die_after, let_go, on_copies
from support.servers import RecordingJournal
from support.services import DebianServer, shut_out, stand_in_systemctl
from support.targets import ACCESS, existing

ACCEPT = ("commits", "sessions")
UNDER_LOAD = r"(?s)trial 1 (?:(?!trial|warm-up).)*\b2 clients "


pytestmark = pytest.mark.usefixtures("untouched")


def following(
    server: DebianServer, journal: Path, access: Access, accept: tuple[str, ...] = ACCEPT
) -> ExistingTarget:
    """The target of the run that comes next; its trials are not on copies."""
    return ExistingTarget(
        server.dsn(), FileJournal(journal), allow_changes=True, accept=accept, access=access
    )


def assert_it_works(target: ExistingTarget) -> None:
    """Trials of its own, on the server's own data."""
    target.prepare(build, {"max_wal_size": "2GB"})
    report = target.reset({"work_mem": "9MB"})
    assert report.settings == {"max_wal_size": "2GB", "work_mem": "9MB"}
    with target.connect() as session:
        assert session.execute("SELECT count(*) FROM account, public.own").fetchone() == (300,)
        assert not (Path(str(session.execute("SHOW data_directory").fetchone())) / MARK).exists()


@pytest.mark.parametrize("steps", [5, 9, 11, 18, 23, 29, 33])
def test_the_next_run_gives_it_back_wherever_the_tool_was_killed(
    steps: int, debian: DebianServer, tmp_path: Path
) -> None:
    dead, alive = tmp_path / "dead.jsonl", tmp_path / "alive.jsonl"
    assert die_after(steps, debian, dead, "pg_ctlcluster") is None
    (what,) = {change.what for change in open_changes(dead) if change.copy}
    with closing(following(debian, alive, ACCESS["pg_ctlcluster"])) as target:
        target.open()
        # Also the dead run's own journal: nobody undoes it a second time.
        assert open_changes(dead) == []
        assert_it_works(target)
        assert target.reset({}).notes == (), "it is told once"
    assert open_changes(alive) == []
    assert list((tmp_path / "state" / "pgassay" / "servers").iterdir()) == []
    assert what == f"data directory {debian.data}"


@pytest.mark.parametrize(("kind", "down"), [("systemd", False), ("pg_ctl", True), ("ssh", True)])
def test_it_is_given_back_by_whatever_restarts_it_up_or_down(
    kind: str,
    down: bool,
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
) -> None:
    dead = on_copies(debian, journal, request, kind)
    let_go(dead)
    if down:
        debian.ctl("stop")
    with closing(existing(kind, debian, RecordingJournal(), request)) as target:
        target.open()
        target.prepare(build, {})
        (note,) = target.reset({}).notes
        assert note.startswith(f"data directory {debian.data}: a run that was killed had left")
        assert target.reset({}).notes == ()


def test_with_too_little_access_it_is_told_and_left(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    access = ACCESS["pg_ctlcluster"]
    let_go(on_copies(debian, journal, request))
    ssh = request.getfixturevalue("ssh_config")
    assert ssh.running
    for lacking, why in (
        (ACCESS["sql"], "names no service, cluster or bin"),
        (replace(access, allow_restart=False), "allow_restart is not true"),
        (ACCESS["ssh"], "that run had no target.ssh"),
    ):
        with (
            closing(following(debian, tmp_path / "no", lacking)) as target,
            pytest.raises(TargetError, match=f"on a copy of its data.*{why}.*recover RUN.*mv "),
        ):
            target.open()
        assert (debian.data / MARK).exists()
    debian.ctl("stop")
    stand_in_systemctl(tmp_path, debian)
    for lacking, why in (
        (ACCESS["sql"], "names no service, cluster or bin"),
        (ACCESS["systemd"], r"restarted by `systemctl restart postgresql@15-lab`"),
    ):
        with (
            closing(following(debian, tmp_path / "no", lacking)) as target,
            pytest.raises(ConnectionRefused, match=f"on a copy, perhaps stopped.*{why}.*recover"),
        ):
            target.open()
    elsewhere = make_conninfo(debian.dsn(), port=debian.port - 1)
    for same, told in (
        (access, f"; a run that was killed has left data directory {debian.data} on a copy"),
        (ACCESS["pg_ctl"], f"; if this is the server of data directory {debian.data}, a run that"),
        (replace(access, control=DebianCluster("15", "other")), "; if this is the server of data"),
    ):
        with (
            closing(ExistingTarget(elsewhere, journal, access=same)) as target,
            pytest.raises(ConnectionRefused, match=f"{told}.*: `pgassay recover RUN` gives it"),
        ):
            target.open()
    assert not debian.is_up()
    recover(debian.dsn(), journal.open, journal, access)
    assert journal.open == []


def test_a_server_that_refuses_us_for_good_is_not_asked_again(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dead = on_copies(debian, journal, request)
    let_go(dead)
    asked = []

    def counted(dsn: str) -> ConnectionParameters:
        asked.append(dsn)
        return resolve(dsn)

    monkeypatch.setattr(left_on_copy, "resolve", counted)
    with shut_out(debian):
        target = following(debian, tmp_path / "no", ACCESS["pg_ctlcluster"])
        with closing(target), pytest.raises(ConnectionRefused, match=r"pg_hba\.conf"):
            target.open()
        assert 1 < len(asked) < 5
    recover(debian.dsn(), journal.open, journal, ACCESS["pg_ctlcluster"])
    assert journal.open == []


def test_what_a_host_that_went_down_while_room_was_looked_for_has_left_is_removed(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    let_go(on_copies(debian, journal, request))
    probe = debian.data.with_name(f"{debian.data.name}.pgassay-0a1b2c3d-probe")
    probe.touch()
    recover(debian.dsn(), journal.open, journal, ACCESS["pg_ctlcluster"])
    assert not probe.exists()


def test_a_server_that_others_use_by_then_is_not_stopped_under_them(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    let_go(on_copies(debian, journal, request))
    with ExitStack() as others:
        for _ in range(9):
            others.enter_context(closing(psycopg.connect(debian.dsn())))
        target = following(debian, tmp_path / "no", ACCESS["pg_ctlcluster"], accept=("commits",))
        with closing(target), pytest.raises(ServesSomebody):
            target.open()
        assert (debian.data / MARK).exists()
    with closing(following(debian, tmp_path / "a", ACCESS["pg_ctlcluster"])) as target:
        target.open()


def test_the_copies_of_a_living_run_are_left_to_it_also_while_it_restarts(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    living = on_copies(debian, journal, request)
    control, copies = living._control, living._copies
    assert control is not None
    assert copies is not None
    control.close()  # as every stop of the server does
    for stopped in (False, True):
        if stopped:
            copies._service.stop()
        second = following(debian, tmp_path / "no", ACCESS["pg_ctlcluster"])
        with closing(second), pytest.raises(TargetError, match="another pgassay run works on"):
            second.open()
        assert (debian.data / MARK).exists()
    copies._service.start()
    living.reset({})
    living.close()
    assert journal.open == []


def test_a_run_after_one_that_was_killed_says_so_beforehand_and_recover_has_nothing_left_to_do(
    debian: DebianServer, tmp_path: Path
) -> None:
    spec, text = tmp_path / "lab.toml", SPEC.format(dsn=debian.dsn())
    spec.write_text(text.replace('step = "0.6s"', 'step = "300s"'))
    with watched(tmp_path / "first", spec) as tool:
        tool.wait_for(lambda: tool.says(UNDER_LOAD), "a trial under load")
        tool.kill()
    spec.write_text(text)
    planned = pgassay("plan", spec, COLUMNS="300")
    assert planned.returncode == 0, planned.stderr
    assert f"host: give back data directory {debian.data}" in planned.stdout
    assert "undo what a killed run left" not in planned.stdout, "that goes with the copy"
    assert "stops:" not in planned.stdout
    lacking = re.sub("(?m)^(cluster|allow_restart|allow_data_copy|level).*", "", text)
    spec.write_text(lacking)
    planned = pgassay("plan", spec, COLUMNS="500")
    assert "stops: a run that was killed has left this server on a copy" in planned.stdout
    spec.write_text(text)
    debian.ctl("stop")
    planned = pgassay("plan", spec, COLUMNS="500")
    assert "on a copy, perhaps stopped: a run gives it back before all else" in planned.stdout
    assert not debian.is_up()
    done = pgassay("run", spec, "--out", tmp_path / "second", "--json")
    assert done.returncode == 0, done.stderr
    late = pgassay("recover", tmp_path / "first")
    assert (late.returncode, late.stdout.strip()) == (0, "nothing to undo")
