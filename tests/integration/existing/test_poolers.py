"""A connection pooler is recognised before anything is set or locked through it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import TargetError
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.account import Account
from support.runs.broken import spec_file
from support.runs.command import last_line, pgassay
from support.servers.lab import SECRET, LabServer, RecordingJournal
from support.servers.pooler import through_another_key, through_pgbouncer

WORDS = "is a connection pooler"


@pytest.fixture(params=["another key", pytest.param("pgbouncer", marks=pytest.mark.heavy)])
def pooled(
    request: pytest.FixtureRequest,
    lab_server: LabServer,
    account: Account,
    servers_base: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[str]:
    """A connection string that leads to the server through a pooler."""
    monkeypatch.setenv("PGPASSWORD", SECRET)
    if request.param == "another key":
        with through_another_key(lab_server) as dsn:
            yield dsn
        return
    folder = Path(tempfile.mkdtemp(prefix="pooler-", dir=servers_base))
    folder.chmod(0o711)
    try:
        with through_pgbouncer(lab_server, account, folder) as dsn:
            yield dsn
    finally:
        shutil.rmtree(folder)


def test_a_run_through_a_pooler_is_refused_and_leaves_nothing_in_its_sessions(
    pooled: str, lab_server: LabServer, journal: RecordingJournal, tmp_path: Path
) -> None:
    target = ExistingTarget(pooled, journal, allow_changes=True, accept=["commits", "sessions"])
    with pytest.raises(TargetError, match=WORDS):
        target.open()
    target.close()
    assert journal.changes == []
    with lab_server.admin() as session:
        query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
        assert session.execute(query).fetchone() == (0,)
    with psycopg.connect(pooled, autocommit=True) as next_of_the_pool:
        assert next_of_the_pool.execute("SHOW statement_timeout").fetchone() == ("0",)
    spec = spec_file(tmp_path, target=f'[target]\ndsn = "{pooled}"\nallow_changes = true')
    for done in (pgassay("plan", spec), pgassay("run", spec, "--out", tmp_path / "run")):
        shown = " ".join((done.stdout + done.stderr).split())
        assert WORDS in shown
        assert "give the server's own address" in shown


def test_an_observation_through_a_pooler_is_refused(pooled: str, tmp_path: Path) -> None:
    done = pgassay(
        "observe", pooled, "--out", tmp_path / "observed", "--duration", "1s", COLUMNS="300"
    )
    assert done.returncode != 0
    assert WORDS in last_line(done.stderr)


def test_a_load_may_go_through_a_pooler(pooled: str, tmp_path: Path) -> None:
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    done = pgassay("load", pooled, "-f", script, "-c", "4", "-t", "20", "-n", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["server"]["version"]
    assert sum(step["transactions"] for step in shown["steps"]) == 80


@pytest.mark.heavy
def test_a_pooler_takes_the_settings_of_the_environment_and_is_named_where_it_refuses(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    script = tmp_path / "one.sql"
    script.write_text("\\set x 1\nSELECT :x;\n")
    folder = Path(tempfile.mkdtemp(prefix="pooler-", dir=servers_base))
    folder.chmod(0o711)
    words = ("-f", script, "-c", "4", "-t", "20", "-n")
    try:
        with through_pgbouncer(lab_server, account, folder) as dsn:
            secret = {"PGPASSWORD": SECRET}
            tokyo = {"PGTZ": "Asia/Tokyo", "PGDATESTYLE": "German", "PGCLIENTENCODING": "LATIN1"}
            taken = pgassay("load", dsn, *words, **secret, **tokyo)
            refused = pgassay("load", dsn, *words, PGGEQO="off", **secret)
            prepared = pgassay("load", dsn, *words, "-M", "prepared", **secret)
    finally:
        shutil.rmtree(folder)
    assert "failed 0" in taken.stdout, taken.stderr
    assert "ignore_startup_parameters" in last_line(refused.stderr)
    shown = " ".join((prepared.stdout + prepared.stderr).split())
    assert "42P05 and 26000 are what a connection pooler" in shown
