"""After a run the server is compared with what the run found, and its files are as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import sql

from pgassay.errors import RestoreFailed
from pgassay.server.comparison import Comparison
from pgassay.server.existing.system_settings import SystemSettings
from pgassay.server.existing.target import ExistingTarget
from support.runs.broken import in_the_second_trial, spec_file, watched
from support.runs.command import last_line, pgassay
from support.servers.accounts import build_accounts
from support.servers.lab import SECRET, LabServer, RecordingJournal, scalar
from support.servers.pool import on_newest_version

pytestmark = on_newest_version
ENTRIES = (
    ("work_mem", "5MB"),
    ("TimeZone", "Europe/Riga"),
    ("search_path", '"$user", public'),
    ("log_line_prefix", "it's %m \\ "),
    ("maintenance_work_mem", "65537kB"),
)
TARGET = "[target]\ndsn = ''\nallow_changes = true\naccept = ['commits', 'sessions']\n"


@pytest.fixture
def server(
    lab_server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabServer]:
    """It has entries in postgresql.auto.conf, of its database and of its role."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with lab_server.admin() as session:
        for name, value in ENTRIES:
            values = value.split(", ") if name == "search_path" else [value]
            parts = sql.SQL(", ").join(sql.Literal(part.strip('"')) for part in values)
            session.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), parts))
        session.execute("ALTER DATABASE lab SET temp_buffers = '5MB'")
        session.execute("ALTER DATABASE lab SET geqo = off")
        session.execute("SELECT pg_reload_conf()")
    yield lab_server
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM RESET ALL")
        session.execute("ALTER DATABASE lab RESET ALL")
        session.execute("SELECT pg_reload_conf()")


def text_of(server: LabServer) -> str:
    with server.admin() as session:
        return str(scalar(session, "SELECT pg_read_file('postgresql.auto.conf')"))


def left(server: LabServer, dsn: str = "") -> Comparison:
    """How a run that changes three of the entries leaves the server."""
    target = ExistingTarget(
        dsn or server.dsn(), RecordingJournal(), allow_changes=True, accept=["commits", "sessions"]
    )
    try:
        target.open()
        target.prepare(build_accounts, {"maintenance_work_mem": "33MB"})
        target.reset({"work_mem": "8MB", "timezone": "UTC"})
        target.reset({"work_mem": "16MB", "timezone": "UTC"})
    finally:
        target.close()
    comparison = target.compared()
    assert comparison is not None
    return comparison


def test_the_file_of_alter_system_comes_back_word_for_word(server: LabServer) -> None:
    before = text_of(server)
    assert str(left(server)) == "compared with before: identical"
    assert text_of(server) == before


def test_a_role_that_may_not_read_the_file_puts_values_back_with_their_units(
    server: LabServer,
) -> None:
    with server.admin() as session:
        if session.info.server_version < 150000:
            pytest.skip("ALTER SYSTEM cannot be granted before 15")
        session.execute(f"CREATE ROLE tuner LOGIN PASSWORD '{SECRET}'".encode())
        session.execute(
            "GRANT pg_read_all_settings TO tuner; GRANT CREATE ON DATABASE lab TO tuner"
        )
        for name in ("work_mem", "maintenance_work_mem", "timezone"):
            session.execute(f"GRANT ALTER SYSTEM ON PARAMETER {name} TO tuner".encode())
        session.execute("GRANT EXECUTE ON FUNCTION pg_reload_conf() TO tuner")
    before = sorted(line.lower() for line in text_of(server).splitlines())
    try:
        comparison = left(server, server.dsn(user="tuner"))
        assert str(comparison) == (
            "compared with before: identical (not readable here: postgresql.auto.conf)"
        )
        assert sorted(line.lower() for line in text_of(server).splitlines()) == before
    finally:
        with server.admin() as session:
            session.execute("DROP OWNED BY tuner; DROP ROLE tuner")


def test_what_others_have_changed_meanwhile_is_listed(
    server: LabServer,
) -> None:
    target = ExistingTarget(server.dsn(), RecordingJournal(), accept=["commits", "sessions"])
    target.open()
    try:
        with server.admin() as session:
            session.execute("ALTER DATABASE lab SET temp_buffers = '9MB'")
            session.execute("ALTER SYSTEM SET ssl_passphrase_command = 'cat secret'")
            session.execute("CREATE ROLE newcomer")
            session.execute("CREATE SCHEMA theirs")
    finally:
        target.close()
        with server.admin() as session:
            session.execute("DROP SCHEMA theirs; DROP ROLE newcomer")
            session.execute("ALTER DATABASE lab SET temp_buffers = '5MB'")
            session.execute("ALTER SYSTEM RESET ssl_passphrase_command")
    assert str(target.compared()) == (
        "compared with before: role newcomer is new; schema theirs is new; setting temp_buffers was"
        " 640 x 8kB (database), is 1152 x 8kB (database); setting in ALTER ... SET temp_buffers of"
        " database lab was 5MB, is 9MB; postgresql.auto.conf ssl_passphrase_command is new"
    )


def test_what_a_run_leaves_of_its_own_fails_the_restoring(
    server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SystemSettings, "restore", lambda self: [])
    target = ExistingTarget(
        server.dsn(), RecordingJournal(), allow_changes=True, accept=["commits", "sessions"]
    )
    target.open()
    target.prepare(build_accounts, {"work_mem": "8MB"})
    monkeypatch.setattr(SystemSettings, "left", [])
    with pytest.raises(RestoreFailed, match=r"not as it was found: postgresql.auto.conf work_mem"):
        target.close()
    with server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '5MB'")
        session.execute("COMMENT ON DATABASE postgres IS NULL")


def test_the_last_line_of_a_run_says_how_it_left_the_server(
    server: LabServer, tmp_path: Path
) -> None:
    done = pgassay(
        "run", spec_file(tmp_path, target=TARGET), "--out", tmp_path / "whole", **server.variables()
    )
    assert last_line(done.stderr) == "compared with before: identical"
    with watched(
        tmp_path / "run", spec_file(tmp_path, target=TARGET), **server.variables()
    ) as tool:
        in_the_second_trial(tool)
        with server.admin() as session:
            session.execute("CREATE ROLE newcomer")
        tool.interrupt()
        assert tool.end() == 130
    with server.admin() as session:
        session.execute("DROP ROLE newcomer")
    said = tool.text.strip().splitlines()
    assert said[-2:] == ["compared with before: role newcomer is new", "pgassay: stopped"]
