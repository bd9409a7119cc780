"""A workload is drawn by the command, run on a copy, and compared with its source."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgassay.server.hosts.account import Account
from support.runs.command import pgassay
from support.servers.lab import SECRET, LabServer, installation_named, running_lab_server

LINES = """
shared_preload_libraries = 'pg_stat_statements'
logging_collector = on
log_destination = 'csvlog'
log_filename = 'all.log'
log_min_duration_statement = 0
"""
READER = f"""
CREATE ROLE till LOGIN PASSWORD '{SECRET}';
ALTER ROLE till SET search_path = shop, public;
GRANT USAGE ON SCHEMA shop TO till;
GRANT SELECT, UPDATE ON shop.account TO till;
CREATE ROLE reader LOGIN REPLICATION PASSWORD '{SECRET}';
GRANT pg_monitor, pg_read_all_data TO reader;
"""
"""As docs/own-load.md makes it; the application's role looks for names elsewhere."""
REPLICATION = "host replication all 127.0.0.1/32 scram-sha-256\n"
TABLES = """
CREATE EXTENSION pg_stat_statements;
CREATE TABLE account (id bigint PRIMARY KEY, owner text NOT NULL, balance numeric NOT NULL);
CREATE SCHEMA shop;
CREATE TABLE shop.account (LIKE account INCLUDING ALL);
INSERT INTO shop.account SELECT n, 'owner ' || n, n FROM generate_series(1, 2000) AS n;
ANALYZE shop.account;
"""
LOAD = (
    "SELECT balance FROM account WHERE id = %s",
    "SELECT balance FROM account WHERE id = %s",
    "UPDATE account SET balance = balance + 1 WHERE id = %s",
)
QUICK = (
    ('step = "60s"', 'step = "1s"\nwarmup = "0.5s"'),
    ("[design]", "[design]\nmin_blocks = 2\nmax_blocks = 2"),
    ("\n# accept", '\nbackup_checkpoint = "fast"\naccept = ["sessions", "commits"] #'),
)


@contextmanager
def loaded(server: LabServer) -> Iterator[None]:
    """Statements by one client, without a pause, as long as the block lasts."""
    over = threading.Event()

    def work() -> None:
        dsn = server.dsn("till")
        with psycopg.connect(dsn, autocommit=True, application_name="till") as session:
            number = 0
            while not over.is_set():
                number = number % 2000 + 1
                for text in LOAD:
                    session.execute(text, (number,))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture(scope="module")
def source(account: Account, servers_base: Path) -> Iterator[LabServer]:
    with running_lab_server(
        installation_named("embedded-18"), account, servers_base, LINES
    ) as server:
        rules = server.cluster.workspace.data / "pg_hba.conf"
        rules.write_text(rules.read_text() + REPLICATION)
        with server.admin() as session:
            session.execute("SELECT pg_reload_conf()")
            session.execute((TABLES + READER).encode())
        yield server


@pytest.fixture(scope="module")
def folder(source: LabServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("drawn") / "shop"
    with loaded(source):
        done = pgassay(
            "draw", source.place("reader"), "--for", "2s", "--out", out, **source.variables()
        )
    assert done.returncode == 0, done.stderr
    assert "select-account-by-id" in done.stdout
    assert f"pgassay run {out / 'experiment.toml'}" in done.stdout
    return out


def ran(source: LabServer, folder: Path, run: Path) -> None:
    """A short run of the experiment that was written, on a copy of the source."""
    spec, text = folder / "quick.toml", (folder / "experiment.toml").read_text()
    for before, after in QUICK:
        assert before in text
        text = text.replace(before, after)
    spec.write_text(text)
    assert pgassay("plan", spec, **source.variables()).returncode == 0
    done = pgassay("run", spec, "--out", run, **source.variables())
    assert done.returncode == 0, done.stderr


def checked_look(source: LabServer, run: Path, *options: str) -> dict[str, Any]:
    """What the check says of the SELECT, where it says that the run is true to its source."""
    shown = pgassay("draw", "--check", run, "--format", "json", *options, **source.variables())
    assert shown.returncode == 0, shown.stderr
    checked = json.loads(shown.stdout)
    assert checked["true"], checked
    found: dict[str, Any] = next(
        one for one in checked["statements"] if one["text"].startswith("SELECT")
    )
    return found


def test_what_is_drawn_runs_on_a_copy_and_is_compared_with_its_source(
    source: LabServer, folder: Path, tmp_path: Path, own_base: Path
) -> None:
    run = tmp_path / "run"
    ran(source, folder, run)
    look = checked_look(source, run, "--plans")
    assert look["calls_share"]["source"] == pytest.approx(2 / 3, abs=0.01)
    assert look["calls_share"]["run"] == pytest.approx(2 / 3, abs=0.1)
    assert look["rows"] == {"source": pytest.approx(1.0), "run": pytest.approx(1.0)}
    assert look["plan"]["source"] == look["plan"]["run"] is not None
    table = pgassay("draw", "--check", run)
    assert "SELECT balance FROM account" in table.stdout
    assert not any(b"owner 1" in one.read_bytes() for one in run.rglob("*") if one.is_file())


def test_what_is_drawn_from_the_log_runs_on_a_copy_and_is_compared_with_its_source(
    source: LabServer, folder: Path, tmp_path: Path, own_base: Path
) -> None:
    log = source.cluster.workspace.data / "log" / "all.csv"
    out, run = tmp_path / "shop", tmp_path / "run"
    of = ("--log", log, "--application", "till", "--out", out)
    done = pgassay("draw", source.place("reader"), *of, **source.variables())
    assert done.returncode == 0, done.stderr
    ran(source, out, run)
    look = checked_look(source, run)
    assert look["calls_share"]["source"] == pytest.approx(2 / 3, abs=0.01)
    assert look["calls_share"]["run"] == pytest.approx(2 / 3, abs=0.1)
    assert look["rows"]["source"] is None
