"""An existing server reset by a template database: the user's own database is never changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import ConnectionRefused
from pgassay.server.connection.session import user_path
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.recovery.recover import recover
from pgassay.spec.server.reset import Caches, ResetLevel, ResetRule
from support.refusals import refused
from support.runs.broken import spec_file
from support.runs.command import pgassay
from support.servers.accounts import build_accounts
from support.servers.existing import die
from support.servers.lab import SECRET, LabServer, RecordingJournal, scalar

RULE = ResetRule(ResetLevel.TEMPLATE)
IN_COPIES = ("allow_changes = true", "accept = ['commits']", "[reset]", "level = 'template'")


def databases(server: LabServer) -> set[str]:
    with server.admin("postgres") as session:
        return {row[0] for row in session.execute("SELECT datname FROM pg_database")}


@pytest.fixture
def server(lab_server: LabServer) -> Iterator[LabServer]:
    """The server of this module, whose databases must be the same afterwards."""
    with lab_server.admin() as session:
        session.execute("CREATE TABLE IF NOT EXISTS theirs AS SELECT 1 AS kept")
        session.execute("ALTER DATABASE lab SET random_page_cost = 3")
        session.execute("ALTER DATABASE lab SET search_path = '$user', public")
        session.execute("ALTER ROLE lab IN DATABASE lab SET seq_page_cost = 2")
        session.execute("ALTER ROLE plain IN DATABASE lab SET seq_page_cost = 5")
    before = databases(lab_server)
    yield lab_server
    after = databases(lab_server)
    with lab_server.admin() as session:
        for name in after - before:
            session.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
        kept = scalar(session, "SELECT sum(kept) FROM theirs")
        schema = scalar(session, "SELECT to_regnamespace('pgassay')")
        session.execute("DROP TABLE theirs")
    assert after == before
    assert (kept, schema) == (1, None)


def template_target(
    server: LabServer, journal: RecordingJournal, rule: ResetRule = RULE, user: str = "lab"
) -> ExistingTarget:
    return ExistingTarget(
        server.dsn(user), journal, allow_changes=True, accept=["commits"], rule=rule
    )


def test_every_trial_begins_with_the_database_as_it_was_frozen(
    server: LabServer, journal: RecordingJournal
) -> None:
    with closing(template_target(server, journal)) as target:
        target.open()
        target.prepare(build_accounts, {})
        for _ in range(2):
            report = target.reset({"maintenance_work_mem": "33MB"})
            assert report.level is ResetLevel.TEMPLATE
            assert list(report.phases) == ["settings", "copy", "checkpoint"]
            assert report.copied.startswith("CREATE DATABASE, file")
            assert report.notes == ()
            with target.connect() as session, user_path(session):
                name = scalar(session, "SELECT current_database()")
                assert name.startswith("pgassay_")
                assert scalar(session, "SHOW random_page_cost") == "3"
                assert scalar(session, "SHOW seq_page_cost") == "2"
                assert scalar(session, "SHOW maintenance_work_mem") == "33MB"
                assert scalar(session, "SELECT sum(balance) FROM account") == 0
                assert scalar(session, "SELECT sum(kept) FROM theirs") == 1
                session.execute("UPDATE account SET balance = 1")
                session.execute("DELETE FROM theirs")
            with pytest.raises(ConnectionRefused, match="not currently accepting"):
                server.admin(f"{name}_template")
    assert journal.open == []


def test_a_session_that_stays_in_the_trials_database_does_not_stop_the_next(
    server: LabServer, journal: RecordingJournal
) -> None:
    with closing(template_target(server, journal)) as target:
        target.open()
        target.prepare(build_accounts, {})
        target.reset({})
        with closing(target.connect()) as left:
            target.reset({})
            with pytest.raises(psycopg.Error):
                left.execute("SELECT 1")


def test_a_database_in_use_is_not_copied_and_plan_says_so(
    server: LabServer, journal: RecordingJournal, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=server.target(*IN_COPIES))
    with closing(template_target(server, journal)) as target:
        with server.admin() as session:
            session.execute("SET application_name = 'psql'")
            target.open()
            with refused("database-in-use", name="lab", who="postgres (psql)"):
                target.prepare(build_accounts, {})
            shown = pgassay("plan", spec, PGPASSWORD=SECRET).stdout
            assert "stops: reset.level = 'template': others are connected" in shown
        assert journal.changes == []
    shown = pgassay("plan", spec, PGPASSWORD=SECRET).stdout
    assert "reset     template: the database is made anew" in shown
    assert "CREATE DATABASE, a copy of lab" in shown


def test_a_user_who_may_make_no_database_is_refused_before_anything_is_made(
    server: LabServer, journal: RecordingJournal
) -> None:
    with closing(template_target(server, journal, user="plain")) as target:
        target.open()
        with refused("may-make-no-database", user="plain"):
            target.prepare(build_accounts, {})
    assert journal.changes == []


def test_an_owner_without_superuser_rights_may_reset(
    server: LabServer, journal: RecordingJournal
) -> None:
    with server.admin() as session:
        session.execute("ALTER ROLE plain CREATEDB")
    try:
        with closing(template_target(server, journal, user="plain")) as target:
            target.open()
            target.prepare(build_accounts, {})
            target.reset({})
            with target.connect() as session, user_path(session):
                assert scalar(session, "SELECT count(*) FROM account") == 1000
                assert scalar(session, "SHOW seq_page_cost") == "5"
    finally:
        with server.admin() as session:
            session.execute("ALTER ROLE plain NOCREATEDB")
    assert journal.open == []


@pytest.mark.parametrize("rule", [Caches.WARM, Caches.COLD])
def test_caches_are_made_warm_or_cold_by_the_rule(
    server: LabServer, journal: RecordingJournal, rule: Caches
) -> None:
    with closing(template_target(server, journal, ResetRule(ResetLevel.TEMPLATE, rule))) as target:
        target.open()
        target.prepare(build_accounts, {})
        report = target.reset({})
        assert report.caches is not None
        assert report.caches.rule is rule
        assert report.caches.cached_share is not None
        assert list(report.phases) == ["settings", "copy", "caches", "checkpoint"]


def test_recover_drops_the_databases_of_a_killed_run(
    server: LabServer, journal: RecordingJournal
) -> None:
    left = RecordingJournal()
    killed = template_target(server, left)
    killed.open()
    killed.prepare(build_accounts, {})
    killed.reset({"work_mem": "8MB"})
    die(killed)
    assert len(databases(server)) == 7
    recover(server.dsn(), left.open, journal)
    assert len(journal.undone_ids) == len(left.open)


def test_a_whole_run_names_its_level_and_leaves_nothing(tmp_path: Path, server: LabServer) -> None:
    spec = spec_file(tmp_path, target=server.target(*IN_COPIES))
    run = tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["trials"] == 4
    assert any("reset level template: the server runs on" in text for text in shown["warnings"])
    assert json.loads((run / "environment.json").read_text())["reset"]["level"] == "template"
    trial = json.loads((run / "trials" / "0001" / "trial.json").read_text())
    assert trial["reset"]["level"] == "template"
    assert trial["reset"]["phases"]["copy"] > 0
    assert "reset, level" in (run / "report.html").read_text()
