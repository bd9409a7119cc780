"""pg_wait_sampling beside our samples, on the PostgreSQL that Debian has it for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pgassay.doctor.checks import check_server
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.trials.sampling.queries import extensions_in
from pgassay.trials.sampling.statement_statistics import StatementWatch
from support.packages import needs
from support.runs.command import pgassay, shop_workload
from support.runs.observing import busy_sessions, ended, observing
from support.servers.lab import (
    DEBIAN,
    LabServer,
    installation_named,
    running_lab_server,
    wait_until,
)

PRELOADED = """
shared_preload_libraries = 'pg_wait_sampling'
compute_query_id = on
pg_wait_sampling.profile_period = 20
"""
SLEEP = "SELECT pg_sleep(0.5)"
COUNT = "SELECT sum(count) FROM pg_wait_sampling_profile WHERE event = 'PgSleep'"
SPEC = """
question = "What do they wait for?"
[workload]
use = "./shop"
[target]
bin = "{bin}"
[settings.postgres]
shared_preload_libraries = "pg_wait_sampling"
[load]
clients = 2
step = "1s"
warmup = "0.5s"
[design]
min_blocks = 2
max_blocks = 2
"""


@pytest.fixture(scope="module")
def installation() -> Installation:
    found = installation_named("debian-15")
    needs("postgresql-15-pg-wait-sampling")
    return found


@pytest.fixture(scope="module")
def server(installation: Installation, account: Account, servers_base: Path) -> Iterator[LabServer]:
    with running_lab_server(installation, account, servers_base, PRELOADED) as server:
        with server.admin() as session:
            session.execute("CREATE EXTENSION pg_wait_sampling")
        yield server


def slept(server: LabServer) -> int:
    with server.admin() as session:
        row = session.execute(COUNT.encode()).fetchone()
    return int(row[0] or 0) if row else 0


def test_pg_wait_sampling_agrees_with_our_samples_and_is_not_reset(
    server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with busy_sessions(server.dsn(), SLEEP, SLEEP, SLEEP):
        with observing(server, run, "--segment", "2s", "--duration", "5s") as process:
            before = slept(server)
            reported = ended(process)
        assert slept(server) > before
    ours, theirs = (
        reported["events"]["Timeout:PgSleep"],
        reported["sampled_waits"]["Timeout:PgSleep"],
    )
    # Its period is a pause between two looks: on a busy machine it looks less often than it says.
    assert 0.4 * ours < theirs < 1.2 * ours
    assert not any(event.startswith("Activity:") for event in reported["sampled_waits"])
    assert "by pg_wait_sampling" in pgassay("show", run).stdout
    assert "by pg_wait_sampling" in (run / "report.html").read_text()
    (check,) = [one for one in check_server(server.dsn()) if one.name == "pg_wait_sampling"]
    assert check.state == "ok"


def test_after_a_reset_or_a_restart_there_is_a_note_instead_of_figures(server: LabServer) -> None:
    def watch() -> StatementWatch:
        with server.admin() as session:
            extensions = extensions_in(session)
        return StatementWatch(server.admin, 150000, extensions)

    def work() -> None:
        with server.admin() as session:
            session.execute(SLEEP)

    def reset() -> None:
        with server.admin() as session:
            session.execute("SELECT pg_wait_sampling_reset_profile()")

    def restart() -> None:
        server.cluster.stop(gently=True)
        server.cluster.start()

    work()
    for end in (reset, restart):
        watched = watch()
        end()
        assert not watched.counters()["object"]
        (note,) = watched.notes
        assert note.code == "trials/sampling/was-reset"
        work()
        assert any("PgSleep" in name for name in watched.counters()["object"]), "it goes on"


def test_a_profile_without_processes_is_not_used(
    server: LabServer,
) -> None:
    with server.admin() as session:
        extensions = extensions_in(session)
        session.execute("ALTER SYSTEM SET pg_wait_sampling.profile_pid = off")
        session.execute("SELECT pg_reload_conf()")
    try:
        wait_until(lambda: by_process(server) == "off", "it is in force")
        watched = StatementWatch(server.admin, 150000, extensions)
        assert not watched.counters()["object"]
        (note,) = watched.notes
        assert note.code == "trials/sampling/not-by-process"
    finally:
        with server.admin() as session:
            session.execute("ALTER SYSTEM RESET pg_wait_sampling.profile_pid")
            session.execute("SELECT pg_reload_conf()")
        wait_until(lambda: by_process(server) == "on", "it is back")


def by_process(server: LabServer) -> str:
    with server.admin() as session:
        row = session.execute("SHOW pg_wait_sampling.profile_pid").fetchone()
    return str(row[0]) if row else ""


@pytest.mark.heavy
@pytest.mark.usefixtures("own_base", "installation")
def test_an_experiment_stores_the_wait_profile_by_query(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT pg_sleep(0.05);")
    schema = folder / "schema.sql"
    schema.write_text(f"{schema.read_text()}\nCREATE EXTENSION pg_wait_sampling;\n")
    spec = tmp_path / "lab.toml"
    spec.write_text(SPEC.format(bin=DEBIAN))
    run = tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    assert "The same by pg_wait_sampling" in (run / "report.html").read_text()
    rows: list[dict[str, Any]] = pq.read_table(run / "trials/0001/postgres.parquet").to_pylist()
    waits = {row["object"] for row in rows if row["source"] == "wait_profile"}
    assert any(wait.startswith("Timeout:PgSleep/") for wait in waits)
