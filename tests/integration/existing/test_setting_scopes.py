"""Settings of a database or a role: changed, read back, restored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgassay.errors import SettingRejected
from pgassay.server.existing.access import Access
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.recovery.recover import recover
from pgassay.server.settings.statements import reload
from pgassay.spec.server.access import SettingsAt
from support.refusals import refused
from support.runs.broken import spec_file
from support.runs.command import pgassay
from support.servers.accounts import build_few_accounts
from support.servers.existing import die
from support.servers.lab import SECRET, LabServer, RecordingJournal, configure

# A name that has to be quoted wherever it is written.
DATABASE, ROLE = 'o"ne; DROP', 'it\'s a "role"'
WRITTEN = """
    SELECT coalesce(datname, '-'), coalesce(rolname, '-'), unnest(setconfig)
      FROM pg_db_role_setting
      LEFT JOIN pg_database ON pg_database.oid = setdatabase
      LEFT JOIN pg_roles ON pg_roles.oid = setrole
     ORDER BY 1, 2, 3
"""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def rows(server: LabServer, query: str) -> list[Any]:
    with server.admin("postgres") as session:
        return session.execute(query.encode()).fetchall()


@pytest.fixture
def server(
    lab_server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabServer]:
    """One whose role, no superuser, owns its database and has role settings."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    role, database = quoted(ROLE), quoted(DATABASE)
    with lab_server.admin("postgres") as session:
        for command in (
            f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'",
            f"CREATE DATABASE {database} OWNER {role}",
            f"ALTER ROLE {role} SET work_mem = '5MB'",
            f"ALTER DATABASE {database} SET random_page_cost = 3",
        ):
            session.execute(command.encode())
    before = rows(lab_server, WRITTEN)
    assert len(before) == 2
    yield lab_server
    after = rows(lab_server, WRITTEN)
    with lab_server.admin("postgres") as session:
        session.execute(f"DROP DATABASE {database} WITH (FORCE)".encode())
        session.execute(f"DROP ROLE {role}".encode())
    assert after == before


def target(server: LabServer, at: SettingsAt, journal: RecordingJournal) -> ExistingTarget:
    found = ExistingTarget(
        server.dsn(user=ROLE, dbname=DATABASE),
        journal,
        allow_changes=True,
        accept=["commits"],
        access=Access(settings_at=at),
    )
    found.open()
    return found


def in_force(server: LabServer, name: str) -> str:
    with psycopg.connect(server.dsn(user=ROLE, dbname=DATABASE)) as session:
        row = session.execute(f"SHOW {name}".encode()).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.parametrize(("at", "name"), [("role", "work_mem"), ("database", "random_page_cost")])
def test_a_setting_is_changed_in_its_scope_and_put_back(
    server: LabServer, at: SettingsAt, name: str
) -> None:
    values = {"work_mem": "9MB", "random_page_cost": "1.5"}
    was = in_force(server, name)
    with closing(target(server, at, RecordingJournal())) as found:
        found.prepare(build_few_accounts, {"temp_tablespaces": "pg_default"})
        report = found.reset({name: values[name], "jit": "off"})
        assert report.settings[name] == values[name] == in_force(server, name)
        assert report.settings["jit"] == "off"
        found.reset({})
        assert in_force(server, name) == was
        assert in_force(server, "jit") != "off" or was == "off"
        found.reset({name: values[name]})
        of = ROLE if at == "role" else DATABASE
        assert any(of in (row[0], row[1]) for row in rows(server, WRITTEN))
    assert in_force(server, name) == was


@pytest.mark.parametrize(
    ("at", "name", "expected"),
    [
        ("role", "checkpoint_timeout", refused("setting-of-the-server", at="role")),
        ("database", "shared_buffers", refused("setting-of-the-server", at="database")),
        ("role", "log_statement", refused("may-not-set-without-grant")),
        ("database", "work_mem", refused("setting-overridden", place="ALTER ROLE … SET")),
    ],
)
def test_a_setting_that_a_role_or_database_cannot_have_is_refused_before_any_change(
    server: LabServer, at: SettingsAt, name: str, expected: refused
) -> None:
    values = {"checkpoint_timeout": "10min", "shared_buffers": "64MB", "log_statement": "all"}
    with (
        closing(target(server, at, RecordingJournal())) as found,
        expected,
    ):
        found.check_settings({name: values.get(name, "7MB")})


def test_a_database_of_another_user_is_not_changed(server: LabServer) -> None:
    found = ExistingTarget(
        server.dsn(user=ROLE, dbname="other"),
        RecordingJournal(),
        allow_changes=True,
        accept=["commits"],
        access=Access(settings_at="database"),
    )
    with closing(found):
        found.open()
        with refused("database-of-another-owner", database="other"):
            found.check_settings({"jit": "off"})


@pytest.mark.parametrize("at", ["role", "database"])
def test_recover_restores_the_scope_after_a_killed_run(server: LabServer, at: SettingsAt) -> None:
    journal = RecordingJournal()
    killed = target(server, at, journal)
    killed.prepare(build_few_accounts, {"jit": "off"})
    killed.reset({"random_page_cost": "2", "jit": "on"})
    die(killed)
    assert recover(server.dsn(user=ROLE, dbname=DATABASE), journal.open, journal) == []
    assert journal.open == []


def test_a_server_without_alter_system_is_refused_before_anything_is_made(
    lab_server: LabServer, tmp_path: Path
) -> None:
    """As an operator of Kubernetes, or Patroni, sets it."""
    with lab_server.admin() as session:
        if session.info.server_version < 170000:
            pytest.skip("allow_alter_system came with 17")
    edited(lab_server, "allow_alter_system = off\n")
    journal = RecordingJournal()
    words = r"work_mem: this server takes no ALTER SYSTEM .*settings_at = \"database\" or"
    try:
        found = ExistingTarget(lab_server.dsn(), journal, allow_changes=True, accept=["commits"])
        with closing(found):
            found.open()
            with pytest.raises(SettingRejected, match=words):
                found.check_settings({"work_mem": "8MB"})
        assert journal.changes == []
        where = "[target]\ndsn = ''\nallow_changes = true\naccept = ['commits']\n"
        spec = spec_file(tmp_path, target=where)
        shown = pgassay("plan", spec, **lab_server.variables(), COLUMNS="300")
        assert "stops: work_mem: this server takes no ALTER SYSTEM" in shown.stdout
        found = ExistingTarget(
            lab_server.dsn(),
            journal,
            allow_changes=True,
            accept=["commits"],
            access=Access(settings_at="role"),
        )
        with closing(found):
            found.open()
            found.prepare(build_few_accounts, {"work_mem": "8MB"})
    finally:
        edited(lab_server, "allow_alter_system = on\n")


def edited(server: LabServer, lines: str) -> None:
    """Its files, edited and reloaded."""
    configure(server.cluster, lines)
    with server.admin() as session:
        reload(session)


def test_a_plan_says_where_it_would_write(server: LabServer, tmp_path: Path) -> None:
    where = server.target(
        "allow_changes = true", "settings_at = 'role'", "accept = ['commits']", user="plain"
    )
    shown = pgassay("plan", spec_file(tmp_path, target=where), PGPASSWORD=SECRET, COLUMNS="200")
    assert shown.returncode == 0, shown.stderr
    assert "role plain" in shown.stdout
    assert "new session" in shown.stdout
