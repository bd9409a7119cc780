"""A server that cannot be copied is refused with one line that names the fix; nothing is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import TargetError
from pgassay.server.copied.origin import ServerCopy
from pgassay.server.owned import room
from pgassay.server.owned.target import OwnedTarget
from support.servers.lab import LabServer, RecordingJournal, installation_named

ACCEPTED = ("commits", "sessions")


def run_sql(server: LabServer, *commands: str) -> None:
    with server.admin("postgres") as session:
        for command in commands:
            session.execute(command.encode())


@contextmanager
def replication_rule(server: LabServer) -> Iterator[None]:
    path = server.cluster.workspace.data / "pg_hba.conf"
    before = path.read_text()
    path.write_text(f"{before}host replication all 127.0.0.1/32 scram-sha-256\n")
    run_sql(server, "SELECT pg_reload_conf()")
    yield
    path.write_text(before)
    run_sql(server, "SELECT pg_reload_conf()")


def refusal(dsn: str, journal: RecordingJournal, **options: object) -> str:
    fast = {"accept": ACCEPTED, "backup": ("--checkpoint=fast",)}
    origin = ServerCopy(dsn, **{**fast, **options})  # type: ignore[arg-type]
    with (
        closing(OwnedTarget(origin, journal)) as target,
        pytest.raises(TargetError) as refused,
    ):
        target.open()
    text = str(refused.value)
    assert "\n" not in text
    return text


@pytest.fixture
def nothing_left(own_base: Path, journal: RecordingJournal) -> Iterator[None]:
    yield
    assert list(own_base.iterdir()) == []
    assert journal.open == []


@pytest.mark.usefixtures("nothing_left")
def test_a_missing_right_is_refused_with_the_line_that_grants_it(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    dsn = lab_server.dsn(user="plain")
    assert "GRANT pg_read_all_settings TO plain" in refusal(dsn, journal)
    run_sql(lab_server, "GRANT pg_read_all_settings TO plain")
    assert "`host replication plain 127.0.0.1/32 METHOD`" in refusal(dsn, journal)
    with replication_rule(lab_server):
        assert "ALTER ROLE plain REPLICATION" in refusal(dsn, journal)


@pytest.mark.usefixtures("nothing_left")
def test_a_tablespace_is_refused_with_the_other_level(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    place = lab_server.cluster.workspace.directory / "space"
    lab_server.cluster.workspace.account.require(["mkdir", place], limit_s=10)
    run_sql(lab_server, f"CREATE TABLESPACE far LOCATION '{place}'")
    try:
        text = refusal(lab_server.dsn(), journal)
    finally:
        run_sql(lab_server, "DROP TABLESPACE far")
    assert "tablespaces outside the data directory (far)" in text
    assert 'reset.level = "template"' in text


@pytest.mark.usefixtures("nothing_left")
def test_programs_of_another_version_are_refused_by_the_key(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    other = installation_named("embedded-16").bin_directory
    with replication_rule(lab_server):
        text = refusal(lab_server.dsn(), journal, bin_directory=other)
    assert text.startswith(f"target.bin: {other} is PostgreSQL 16")


@pytest.mark.usefixtures("nothing_left")
def test_a_full_disk_is_refused_before_anything_is_copied(
    lab_server: LabServer, journal: RecordingJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda _: 1 << 20)
    with replication_rule(lab_server):
        text = refusal(lab_server.dsn(), journal)
    assert "1 MB are free" in text
    assert "PGASSAY_DATA names another disk" in text


@pytest.mark.usefixtures("nothing_left")
def test_a_server_with_sessions_of_others_is_not_copied(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    parameters = lab_server.cluster.parameters("lab")
    words = f"host={parameters.host} port={lab_server.port} user=postgres dbname=lab"
    with ExitStack() as sessions:
        for _ in range(8):
            sessions.enter_context(psycopg.connect(words, application_name="shop"))
        text = refusal(lab_server.dsn(), journal, accept=("commits",))
    assert "looks like a server that others rely on" in text
    assert 'target.accept = ["sessions"]' in text


def test_a_server_that_is_not_running_is_not_started(journal: RecordingJournal) -> None:
    dsn = "host=/nowhere port=1 user=lab dbname=lab"
    assert "this server is not running; start it" in refusal(dsn, journal)
