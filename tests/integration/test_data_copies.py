"""Trials on copies of an existing server's data directory: its own is never touched nor lost."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target.data_place import MARK
from pgassay.target.protocol import SchemaVariant
from pgassay.target.recover import recover
from support.command import pgassay
from support.data_copies import BESIDE, SPEC, build, die_after, on_copies
from support.servers import RecordingJournal
from support.services import DebianServer
from support.small_disk import bound
from support.targets import ACCESS, copied, existing

pytestmark = pytest.mark.usefixtures("untouched")


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


@pytest.mark.parametrize("steps", range(4, 36))
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


def test_sql_of_a_variant_that_fails_is_told_with_its_key_and_the_directory_comes_back(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    wrong = SchemaVariant("a", {"factors.schema, a": "CREATE INDEX one ON account (nix)"})
    with (
        closing(on_copies(debian, journal, request)) as target,
        pytest.raises(TargetError, match=r'factors\.schema, a: column "nix"'),
    ):
        target.vary(wrong)
    assert journal.open == []


def test_a_directory_that_is_not_our_copy_is_left_and_told(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = on_copies(debian, journal, request)
    mark = debian.data / MARK
    text = mark.read_text()
    mark.write_text("another's")
    with pytest.raises(RestoreFailed, match="is not the copy that this run made"):
        target.close()
    mark.write_text(text)
    target.close()
    assert journal.open == []


def test_what_lies_beside_is_removed_only_where_it_is_ours(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = on_copies(debian, journal, request)
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


def test_a_change_of_somebody_else_during_the_trials_is_not_brought_into_force_by_the_next(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    """ALTER SYSTEM on a copy goes with it, but not before the trials are over."""
    with closing(on_copies(debian, journal, request)) as target:
        with debian.admin() as session:
            session.execute("ALTER SYSTEM SET max_connections = 77")
        with pytest.raises(TargetError, match=r"max_connections \(100 in force, 77 in "):
            target.reset({"work_mem": "7MB"})
    with debian.admin() as session:
        assert session.execute("SHOW max_connections").fetchone() == ("100",)
    assert journal.open == []


def test_a_server_that_could_not_be_started_is_not_stopped_to_give_its_directory_back(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    target = on_copies(debian, journal, request)
    file = debian.conf / "15" / "lab" / "postgresql.conf"
    text = file.read_text()
    file.write_text(f"{text}nonsense here\n")
    try:
        words = r"still on a copy of its data directory \(a start would fail: .*conf line \d+: nons"
        with pytest.raises(RestoreFailed, match=words):
            target.close()
        assert debian.is_up()
    finally:
        file.write_text(text)
    target.close()
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


@pytest.mark.parametrize("kind", ["pg_ctlcluster", "ssh"])
def test_a_disk_mounted_in_the_data_directory_is_refused(
    kind: str, debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    wal = debian.data / "pg_wal"
    # Its own folder once more: the server goes on, and no file system is another one.
    with bound(wal, wal), closing(copied(existing(kind, debian, journal, request))) as target:
        with pytest.raises(TargetError, match=r"data/pg_wal of .* is a mount point: copies would"):
            target.open()
        assert journal.changes == []


def test_a_data_directory_bound_from_its_own_disk_is_a_mount_point(
    debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    with bound(debian.data, debian.data):
        target = copied(existing("pg_ctlcluster", debian, journal, request))
        with (
            closing(target),
            pytest.raises(TargetError, match=r"data of .* is a mount point, which"),
        ):
            target.open()


def test_a_run_on_copies_is_planned_and_ends_with_the_directory_as_it_was(
    debian: DebianServer, tmp_path: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(dsn=debian.dsn()))
    planned = pgassay("plan", spec, COLUMNS="300")
    assert planned.returncode == 0, planned.stderr
    assert "stops:" not in planned.stdout
    assert "the data directory is kept aside and put back at the end" in planned.stdout
    assert "change    host: 2 copies of the data directory, " in planned.stdout
    assert list(debian.data.parent.glob(BESIDE)) == [], "a plan writes nothing"
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    trials = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    assert [trial["reset"]["copied"] for trial in trials] == ["data directory"] * 4
    assert open_changes(run / "journal.jsonl") == []
