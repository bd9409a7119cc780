"""A setting that somebody else changes during a run, or after a killed one, is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.recovery.recover import recover
from pgassay.server.settings.statements import reload
from support.runs.broken import assert_nothing_open, in_the_second_trial, spec_file, watched
from support.servers.accounts import build_accounts
from support.servers.existing import (
    auto_conf,
    killed_after_changes,
    settings_left_alone,
)
from support.servers.lab import LabServer, RecordingJournal, scalar


@pytest.fixture
def server(lab_server: LabServer) -> Iterator[LabServer]:
    """The server of this module; every test must leave its postgresql.auto.conf empty."""
    with settings_left_alone(lab_server):
        yield lab_server


@pytest.fixture
def target(server: LabServer, journal: RecordingJournal) -> Iterator[ExistingTarget]:
    # Counting the commits of others takes a second, and tests of signs do it.
    target = ExistingTarget(server.dsn(), journal, allow_changes=True, accept=["commits"])
    yield target
    target.close()


def test_recover_leaves_what_another_user_changed_since(
    server: LabServer, journal: RecordingJournal
) -> None:
    killed_after_changes(server, journal)
    with server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '123MB'")
        session.execute("DROP SCHEMA pgassay CASCADE")
        session.execute("CREATE SCHEMA pgassay")
        session.execute("CREATE TABLE pgassay.precious (id int)")
    try:
        with pytest.raises(RestoreFailed, match="pgassay did not make") as failed:
            recover(server.dsn(), journal.open, journal)
        assert "work_mem is 123MB now, which this run did not write" in str(failed.value)
        with server.admin() as session:
            assert scalar(session, "SELECT to_regclass('pgassay.precious')::text")
            session.execute("DROP SCHEMA pgassay CASCADE")
        assert recover(server.dsn(), journal.open, journal) == []
        assert auto_conf(server) == {"work_mem": "123MB"}
        assert journal.open == []
    finally:
        with server.admin() as session:
            session.execute("DROP SCHEMA IF EXISTS pgassay CASCADE")
            session.execute("ALTER SYSTEM RESET work_mem")
            session.execute("SELECT pg_reload_conf()")


def alter(server: LabServer, words: str) -> None:
    """As a person would, who does not know of the run."""
    with server.admin() as session:
        session.execute(f"ALTER SYSTEM {words}".encode())
        reload(session)


@pytest.mark.parametrize("words", ["SET work_mem = '123MB'", "RESET work_mem"])
def test_a_run_ends_where_another_user_changes_its_setting(
    target: ExistingTarget, server: LabServer, journal: RecordingJournal, words: str
) -> None:
    target.open()
    target.prepare(build_accounts, {"work_mem": "8MB", "maintenance_work_mem": "65MB"})
    alter(server, words)
    now = "123MB" if "SET " in words and "RESET" not in words else "not set"
    words = (
        f"somebody else has changed a setting of this run, so it ends here: work_mem is {now}"
        " now, which this run did not write: left as it is; value before the run: ALTER"
    )
    with pytest.raises(TargetError, match=words):
        target.reset({"work_mem": "16MB"})
    with pytest.raises(TargetError, match=words):
        target.reset({})
    target.close()
    assert auto_conf(server) == ({"work_mem": "123MB"} if now == "123MB" else {})
    assert journal.open == []
    alter(server, "RESET ALL")


def test_a_change_of_another_user_after_the_last_trial_is_reported_and_kept(
    target: ExistingTarget, server: LabServer, journal: RecordingJournal
) -> None:
    alter(server, "SET work_mem = '6MB'")
    target.open()
    target.prepare(build_accounts, {"maintenance_work_mem": "65MB"})
    target.reset({"work_mem": "16MB"})
    alter(server, "SET work_mem = '123MB'")
    words = (
        "work_mem is 123MB now, which this run did not write: left as it is; value before the run"
    )
    with pytest.raises(RestoreFailed, match=words):
        target.close()
    assert auto_conf(server) == {"work_mem": "123MB"}
    assert journal.open == []
    target.close()
    alter(server, "RESET ALL")


def test_a_real_run_ends_with_one_line_where_another_user_changes_its_setting(
    server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    where = "[target]\ndsn = ''\nallow_changes = true\naccept = ['commits', 'sessions']\n"
    spec = spec_file(tmp_path, target=where, step="2s")
    with watched(run, spec, **server.variables()) as tool:
        in_the_second_trial(tool)
        alter(server, "SET work_mem = '123MB'")
        assert tool.end() == 2, tool.text
    assert "so it ends here: work_mem is 123MB now, which this run did not write" in tool.text
    assert len(tool.finished()) == 2
    assert_nothing_open(run)
    assert auto_conf(server) == {"work_mem": "123MB"}
    alter(server, "RESET ALL")
