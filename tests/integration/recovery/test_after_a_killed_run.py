"""A server that a killed run has changed stops the next run, which names the command to undo it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.samples.ownership.unfinished import locked
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.preview.preview import preview_existing
from pgassay.server.recovery.recover import recover
from support.refusals import codes_of, refused
from support.runs.broken import assert_nothing_open, spec_file, watched
from support.runs.command import last_line, pgassay
from support.runs.killed_target import Phase, killed_in
from support.runs.targets import ACCESS
from support.servers.accounts import build_accounts
from support.servers.debian import DebianServer
from support.servers.existing import auto_conf, die
from support.servers.lab import LabServer, RecordingJournal

ACCEPT = ("commits", "sessions")
TARGET = "[target]\ndsn = ''\nallow_changes = true\naccept = ['commits', 'sessions']\n"
STOPPED = Phase("pgassay.server.service.control:DebianCluster.restart", "half-way")


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The change records of this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pgassay" / "servers"


@pytest.fixture
def server(lab_server: LabServer, record: Path) -> Iterator[LabServer]:
    """Every test leaves its setting and no record behind."""
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    yield lab_server
    left = auto_conf(lab_server)
    with lab_server.admin() as session:
        there = session.execute("SELECT to_regnamespace('pgassay')").fetchone()
        session.execute("DROP SCHEMA IF EXISTS pgassay CASCADE")
        session.execute("ALTER SYSTEM RESET ALL")
        session.execute("SELECT pg_reload_conf()")
    assert (left, there) == ({"work_mem": "6MB"}, (None,))
    assert list(record.glob("*")) == []


def opened(server: LabServer, journal: FileJournal | RecordingJournal) -> ExistingTarget:
    target = ExistingTarget(server.dsn(), journal, allow_changes=True, accept=ACCEPT)
    try:
        target.open()
    except BaseException:
        target.close()
        raise
    return target


def killed(server: LabServer, folder: Path) -> Path:
    """A run that changes a setting and makes its data, and is then no more: its journal."""
    folder.mkdir()
    journal = folder / "journal.jsonl"
    target = opened(server, FileJournal(journal))
    target.prepare(build_accounts, {"work_mem": "8MB"})
    target.reset({"work_mem": "16MB"})
    die(target)
    return journal


def test_the_next_run_plan_and_doctor_name_the_command_that_restores_the_server(
    server: LabServer, tmp_path: Path
) -> None:
    spec, run = spec_file(tmp_path, target=TARGET, step="0.3s"), tmp_path / "run"
    with watched(run, spec, **server.variables()) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
        tool.kill()
    changed = auto_conf(server)
    what, fix = f"run {run} was killed while it had changed this server", f"`pgassay recover {run}`"
    words = f"{what}; {fix}"
    following: list[str | Path] = ["run", spec, "--out", tmp_path / "next"]
    done = pgassay(*following, **server.variables(), COLUMNS="500")
    assert done.returncode == 1
    assert words in last_line(done.stderr)
    shown = pgassay("plan", spec, **server.variables(), COLUMNS="500").stdout
    assert shown.count(words) == 1
    doctor = pgassay("doctor", "-h", "127.0.0.1", **server.variables(), COLUMNS="500")
    assert f"FAIL  earlier runs: {what}\n      {fix}" in doctor.stdout
    assert auto_conf(server) == changed, "none of them changes anything"
    recovered = pgassay("recover", run, **server.variables())
    assert recovered.returncode == 0, recovered.stderr
    assert "undone: setting work_mem" in recovered.stdout
    assert_nothing_open(run)
    assert auto_conf(server) == {"work_mem": "6MB"}
    assert pgassay(*following, **server.variables()).returncode == 0
    assert pgassay("recover", run, **server.variables()).stdout == "nothing to undo\n"


def test_a_run_that_is_alive_is_not_called_killed(server: LabServer, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    with (
        locked(alive),
        closing(opened(server, FileJournal(alive / "journal.jsonl"))) as living,
    ):
        living.prepare(build_accounts, {"work_mem": "8MB"})
        seen = preview_existing(server.dsn(), accept=ACCEPT, settings={}, building_sql=())
        assert codes_of(seen.refusals) == ["server-in-use-by"]
        die(living)  # as in a restart, when nobody holds the lock on the server
        with pytest.raises(TargetError, match=rf"another pgassay run, {alive}, is using"):
            opened(server, RecordingJournal())


def test_a_run_whose_directory_is_gone_is_undone_by_the_sql_that_the_error_names(
    server: LabServer, tmp_path: Path, record: Path
) -> None:
    journal = killed(server, tmp_path / "killed")
    journal.unlink()
    with refused("killed-run-by-mark"):
        opened(server, RecordingJournal())
    with server.admin() as session:
        session.execute("COMMENT ON DATABASE postgres IS NULL")  # the mark is gone too
    with refused("killed-run-without-journal") as caught:
        opened(server, RecordingJournal())
    sql, _, rest = str(caught.value).partition("yourself: ")[2].partition("; then remove ")
    (file,) = record.glob("*.json")
    assert rest == str(file)
    assert file.stem.isdigit()
    assert file.stat().st_mode & 0o077 == 0
    with server.admin() as session:
        for one in sql.split("; "):
            session.execute(one.encode())
        session.execute("SELECT pg_reload_conf()")
    file.unlink()
    opened(server, RecordingJournal()).close()


def test_a_record_that_cannot_be_read_stops_the_run(
    server: LabServer, tmp_path: Path, record: Path
) -> None:
    journal = killed(server, tmp_path / "killed")
    (file,) = record.glob("*.json")
    text = file.read_text()
    file.write_text("{")
    with refused("record-unreadable"):
        opened(server, RecordingJournal())
    file.write_text(text)
    recover(server.dsn(), open_changes(journal), FileJournal(journal))


def test_a_change_that_was_recorded_and_never_made_does_not_hide_the_one_before(
    server: LabServer, tmp_path: Path
) -> None:
    journal = killed(server, tmp_path / "killed")
    (made,) = [one for one in open_changes(journal) if getattr(one, "value", "") == "16MB"]
    lines = journal.read_text().splitlines()
    (line,) = [json.loads(one) for one in lines if made.id in one]
    with journal.open("a") as file:
        file.write(json.dumps({**line, "id": "later", "value": "32MB"}) + "\n")
    assert recover(server.dsn(), open_changes(journal), FileJournal(journal)) == []
    assert open_changes(journal) == []


@pytest.mark.usefixtures("untouched")
def test_a_server_that_a_killed_run_left_down_is_named_with_the_command_that_starts_it(
    debian: DebianServer, tmp_path: Path
) -> None:
    journal = tmp_path / "killed" / "journal.jsonl"
    killed_in(STOPPED, "pg_ctlcluster", debian, journal)
    assert not debian.is_up()
    words = rf"Connection refused|No such file.*run {journal.parent} was killed while it had"
    with pytest.raises(ConnectionRefused, match=words):
        preview_existing(debian.dsn(), accept=ACCEPT, settings={}, building_sql=())
    following = ExistingTarget(
        debian.dsn(), RecordingJournal(), accept=ACCEPT, access=ACCESS["pg_ctlcluster"]
    )
    with closing(following), pytest.raises(ConnectionRefused, match=words):
        following.open()
    assert not debian.is_up()
    changes = open_changes(journal)
    recover(debian.dsn(), changes, FileJournal(journal), ACCESS["pg_ctlcluster"])
    assert debian.is_up()
