"""An existing server is changed only as allowed, verified, and left as it was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pgassay.errors import RestoreFailed
from pgassay.server.connection.session import user_path
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.protocol import ResetLevel
from pgassay.server.recovery.recover import recover
from pgassay.server.undo.undo_sql import undo_text
from support.refusals import refused
from support.servers.accounts import build_accounts
from support.servers.existing import (
    auto_conf,
    die,
    killed_after_changes,
    settings_left_alone,
)
from support.servers.lab import SECRET, LabServer, RecordingJournal, scalar


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


def test_settings_are_changed_verified_and_put_back(
    target: ExistingTarget, server: LabServer, journal: RecordingJournal
) -> None:
    target.open()
    target.prepare(build_accounts, {"checkpoint_timeout": "15min"})
    report = target.reset({"work_mem": "8MB"})
    assert report.level is ResetLevel.VACUUM
    assert not report.restarted
    assert report.notes == ()
    assert report.settings == {"checkpoint_timeout": "15min", "work_mem": "8MB"}
    with target.connect() as session, user_path(session):
        assert scalar(session, "SHOW work_mem") == "8MB"
        assert scalar(session, "SELECT count(*) FROM account") == 1000
        assert scalar(session, "SELECT 'account'::regclass::text") == "account"
    target.reset({})
    with target.connect() as session, user_path(session):
        assert scalar(session, "SHOW work_mem") == "4MB"
    target.close()
    assert auto_conf(server) == {}
    assert journal.open == []
    with server.admin() as session:
        assert scalar(session, "SHOW checkpoint_timeout") == "5min"
        assert scalar(session, "SELECT to_regnamespace('pgassay')") is None


def test_values_that_others_set_with_alter_system_come_back(
    target: ExistingTarget, server: LabServer, journal: RecordingJournal
) -> None:
    with server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("""ALTER SYSTEM SET search_path = "$user", public""")
        session.execute("SELECT pg_reload_conf()")
    target.open()
    target.prepare(build_accounts, {})
    target.reset({"work_mem": "8MB"})
    target.reset({"work_mem": "9MB"})
    assert {undo_text(change) for change in journal.open if "work_mem" in change.what} == {
        """ALTER SYSTEM SET "work_mem" = '6MB'"""
    }
    target.close()
    assert auto_conf(server) == {"work_mem": "6MB", "search_path": '"$user", public'}
    with server.admin() as session:
        session.execute("ALTER SYSTEM RESET ALL")


def test_a_list_of_names_is_set_and_put_back_name_by_name(
    target: ExistingTarget, server: LabServer
) -> None:
    with server.admin() as session:
        session.execute("""ALTER SYSTEM SET temp_tablespaces = pg_default, pg_global""")
        session.execute("SELECT pg_reload_conf()")
    found = auto_conf(server)
    target.open()
    target.prepare(build_accounts, {"temp_tablespaces": "pg_default"})
    target.close()
    assert auto_conf(server) == found
    with server.admin() as session:
        session.execute("ALTER SYSTEM RESET ALL")


def test_a_rejected_value_leaves_the_settings_of_before(
    target: ExistingTarget, server: LabServer
) -> None:
    target.open()
    target.prepare(build_accounts, {"work_mem": "8MB"})
    with refused("statement-rejected") as caught:
        target.reset({"maintenance_work_mem": "65MB", "timezone": "Mars/Olympus"})
    assert caught.value.setting == "timezone"
    assert auto_conf(server) == {"work_mem": "8MB"}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("shared_buffers", "1GB", refused("setting-without-way-to-restart")),
        ("wrok_mem", "1GB", refused("setting-not-of-this-server")),
        ("work_mem", "1kB", refused("setting-out-of-range-in-unit")),
        ("nosuch.setting", "1", refused("setting-not-loaded")),
    ],
)
def test_check_refuses_what_a_reload_cannot_bring(
    target: ExistingTarget, name: str, value: str, expected: refused
) -> None:
    target.open()
    with expected:
        target.check_settings({name: value})


def test_a_setting_of_the_role_wins_and_is_refused(
    target: ExistingTarget, server: LabServer
) -> None:
    with server.admin() as session:
        session.execute("ALTER ROLE lab IN DATABASE lab SET work_mem = '1MB'")
    try:
        target.open()
        with refused("setting-overridden"):
            target.check_settings({"work_mem": "8MB"})
        with refused("setting-overridden"):
            target.prepare(build_accounts, {"work_mem": "8MB"})
    finally:
        with server.admin() as session:
            session.execute("ALTER ROLE lab IN DATABASE lab RESET work_mem")


def test_without_allow_changes_no_setting_changes(
    server: LabServer, journal: RecordingJournal
) -> None:
    target = ExistingTarget(server.dsn(), journal)
    try:
        target.open()
        with refused("settings-without-allow-changes"):
            target.check_settings({"work_mem": "8MB"})
        target.prepare(build_accounts, {})
        with refused("settings-without-allow-changes"):
            target.reset({"work_mem": "8MB"})
        assert target.reset({}).settings == {}
    finally:
        target.close()


def test_an_ordinary_user_may_run_and_is_informed_of_what_was_left_out(
    server: LabServer, journal: RecordingJournal
) -> None:
    target = ExistingTarget(server.dsn(user="plain"), journal, allow_changes=True)
    try:
        facts = target.open()
        assert "data_directory" not in facts.settings
        with refused("may-not-alter-system-without-grant"):
            target.check_settings({"work_mem": "8MB"})
        target.prepare(build_accounts, {})
        assert "server/data/no-checkpoint" in [one.code for one in target.reset({}).notes]
    finally:
        target.close()


def test_a_granted_user_changes_and_restores_without_reading_the_files(
    server: LabServer, journal: RecordingJournal
) -> None:
    with server.admin() as session:
        if session.info.server_version < 150000:
            pytest.skip("ALTER SYSTEM is grantable from 15 on")
        session.execute("GRANT ALTER SYSTEM ON PARAMETER work_mem TO plain")
        session.execute("GRANT EXECUTE ON FUNCTION pg_reload_conf() TO plain")
    target = ExistingTarget(server.dsn(user="plain"), journal, allow_changes=True)
    try:
        target.open()
        target.prepare(build_accounts, {"work_mem": "8MB"})
        assert auto_conf(server) == {"work_mem": "8MB"}
        target.close()
        assert auto_conf(server) == {}

        with server.admin() as session:
            session.execute("ALTER SYSTEM SET work_mem = '6MB'")
            session.execute("SELECT pg_reload_conf()")
        target.open()
        with refused("setting-of-a-hidden-file"):
            target.check_settings({"work_mem": "8MB"})
        with server.admin() as session:
            session.execute("GRANT pg_read_all_settings TO plain")
        target.prepare(build_accounts, {"work_mem": "8MB"})
        target.close()
        assert auto_conf(server) == {"work_mem": "6MB"}
    finally:
        target.close()
        with server.admin() as session:
            session.execute("ALTER SYSTEM RESET ALL")
            session.execute("REVOKE pg_read_all_settings FROM plain")
            session.execute("REVOKE ALL ON PARAMETER work_mem FROM plain")
            session.execute("REVOKE EXECUTE ON FUNCTION pg_reload_conf() FROM plain")


def test_a_second_run_is_refused_even_from_another_database(
    target: ExistingTarget, server: LabServer
) -> None:
    target.open()
    for dbname in ("lab", "other"):
        second = ExistingTarget(server.dsn(dbname=dbname), RecordingJournal())
        with refused("server-in-use-by"):
            second.open()
        second.close()
    target.close()
    third = ExistingTarget(server.dsn(), RecordingJournal())
    third.open()
    third.close()


def test_a_schema_that_pgassay_did_not_make_is_left_alone(
    target: ExistingTarget, server: LabServer
) -> None:
    with server.admin() as session:
        session.execute("CREATE SCHEMA pgassay")
    with refused("foreign-schema", schema="pgassay"):
        target.open()
    target.close()
    with server.admin() as session:
        assert scalar(session, "SELECT to_regnamespace('pgassay')::text") == "pgassay"


def test_recover_undoes_the_changes_of_a_killed_run(
    server: LabServer, journal: RecordingJournal
) -> None:
    killed = ExistingTarget(server.dsn(), journal, allow_changes=True)
    killed.open()
    killed.prepare(build_accounts, {"work_mem": "8MB"})
    die(killed)
    recover(server.dsn(), journal.open, journal)
    assert journal.open == []
    assert auto_conf(server) == {}
    with server.admin() as session:
        assert scalar(session, "SHOW work_mem") == "4MB"
        assert scalar(session, "SELECT to_regnamespace('pgassay')") is None


def test_recover_refuses_another_server(server: LabServer, journal: RecordingJournal) -> None:
    killed_after_changes(server, journal)
    elsewhere = [replace(change, server="1/elsewhere") for change in journal.open]
    with pytest.raises(RestoreFailed, match="is not the server and database of this run"):
        recover(server.dsn(), elsewhere, journal)
    assert auto_conf(server) == {"work_mem": "16MB"}
    recover(server.dsn(), journal.open, journal)
    assert auto_conf(server) == {}


def test_a_failed_restore_names_the_sql_and_can_be_tried_again(
    target: ExistingTarget, server: LabServer, journal: RecordingJournal
) -> None:
    target.open()
    target.prepare(build_accounts, {"work_mem": "8MB"})
    with server.admin() as session:
        session.execute("ALTER ROLE lab NOSUPERUSER")
    try:
        with pytest.raises(RestoreFailed) as caught:
            target.close()
        message = str(caught.value)
        assert 'ALTER SYSTEM RESET "work_mem"; SELECT pg_reload_conf();' in message
        assert SECRET not in message
        assert "\n" not in message
    finally:
        with server.admin() as session:
            session.execute("ALTER ROLE lab SUPERUSER")
    target.close()
    assert journal.open == []
    assert auto_conf(server) == {}


def test_a_lost_control_session_is_replaced_with_its_lock(
    target: ExistingTarget, server: LabServer
) -> None:
    target.open()
    target.prepare(build_accounts, {})
    with server.admin() as session:
        session.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'"
        )
    target.reset({})
    second = ExistingTarget(server.dsn(), RecordingJournal())
    with refused("server-in-use-by"):
        second.open()
    second.close()


def test_a_statement_timeout_under_test_does_not_stop_the_control(
    target: ExistingTarget,
) -> None:
    target.open()
    target.prepare(build_accounts, {})
    assert target.reset({"statement_timeout": "1ms"}).settings["statement_timeout"] == "1ms"
