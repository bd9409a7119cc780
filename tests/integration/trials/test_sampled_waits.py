"""Every class of waits, provoked for real, is sampled on every server."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgassay import _core
from pgassay.analysis.reading.metrics import class_of
from pgassay.server.connection.session import resolve
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.trials.sampling.samplers import open_sampler
from support.runs.observing import busy_sessions
from support.servers.lab import LabServer, running_lab_server, wait_until

# The last fsync of a file wins, and the tests' servers have it off.
SLOW_DISK = "shared_buffers = '128kB'\nmax_connections = 50\n"
COMMIT = "INSERT INTO committed VALUES (1)"
UPDATE = "UPDATE held SET x = x + 1"
READ = "SELECT count(*) FROM large WHERE pad > 'y'"
COMPUTE = "SELECT count(*) FROM generate_series(1, 300000)"
SNAPSHOT = (
    "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE; SELECT count(*) FROM held; COMMIT"
)
"""Waits for serializable transactions that write: for other processes, not for a lock."""
CLASSES = {"lock", "wal", "data_io", "cpu", "client", "throttle", "ipc"}


@pytest.fixture(scope="module")
def disk_server(server_installation: Installation, account: Account) -> Iterator[LabServer]:
    """On a disk, not in memory: a sync is to take its time."""
    with tempfile.TemporaryDirectory(prefix="pgassay-test-", dir="/var/tmp") as base:
        Path(base).chmod(0o711)
        with running_lab_server(server_installation, account, Path(base), SLOW_DISK) as server:
            with server.admin() as session:
                session.execute("ALTER SYSTEM SET fsync = on")
                session.execute("SELECT pg_reload_conf()")
                session.execute("CREATE TABLE committed (x int)")
                session.execute("CREATE TABLE held AS SELECT 1 AS x")
                session.execute(
                    "CREATE TABLE large AS SELECT repeat('x', 500) AS pad"
                    " FROM generate_series(1, 40000)"
                )
                session.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO plain")
            yield server


@contextmanager
def sessions(server: LabServer, user: str) -> Iterator[None]:
    """Writers that commit, readers of cold pages, one that computes, one in a lock's way, one
    that waits for a safe snapshot."""
    works = (*[COMMIT] * 4, READ, COMPUTE, "SELECT pg_sleep(0.05)", UPDATE, SNAPSHOT)
    with psycopg.connect(server.dsn(user)) as holder:
        holder.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        holder.execute(UPDATE)
        with busy_sessions(server.dsn(user), *works):
            try:
                yield
            finally:
                holder.rollback()


@contextmanager
def sampling(
    server: LabServer, user: str, load: _core.Load | None = None
) -> Iterator[_core.Sampler]:
    parameters = resolve(server.dsn(user))
    with server.admin() as session:
        version = session.info.server_version
    sampler, _ = open_sampler(parameters, version, load=load, waits_every_s=0.02)
    try:
        yield sampler
    finally:
        sampler.stop()


def rows_of(columns: dict[str, list[object]]) -> list[dict[str, Any]]:
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def seen_by(sampler: _core.Sampler) -> set[str]:
    """Classes of client backends, and the kinds of events among them."""
    found = set()
    for row in rows_of(sampler.take_waits()):
        if row["backend_type"] == "client backend":
            kind, event = row["wait_event_type"], row["wait_event"]
            found |= {class_of(kind, event), f"{kind}:{event}".lower()}
    return found


def test_a_role_with_pg_monitor_samples_every_class_of_waits(disk_server: LabServer) -> None:
    with disk_server.admin() as session:
        session.execute("GRANT pg_monitor TO plain")
    found: set[str] = set()
    wanted = {*CLASSES, "io:walsync", "lock:transactionid", "client:clientread", "timeout:pgsleep"}
    wanted.add("ipc:safesnapshot")

    def all_seen() -> bool:
        found.update(seen_by(sampler))
        return wanted <= found and any(event.startswith("lwlock:") for event in found)

    with ExitStack() as stack:
        stack.enter_context(sessions(disk_server, "lab"))
        sampler = stack.enter_context(sampling(disk_server, "plain"))
        try:
            wait_until(all_seen, "every class of waits")
        except pytest.fail.Exception:
            pytest.fail(f"never seen: {wanted - found}; seen: {sorted(found)}")
        assert not [text for text in sampler.warnings() if "pg_monitor" in text]
    with disk_server.admin() as session:
        session.execute("REVOKE pg_monitor FROM plain")


def test_without_pg_monitor_only_the_own_role_is_sampled_with_a_warning(
    disk_server: LabServer,
) -> None:
    with (
        sessions(disk_server, "lab"),
        psycopg.connect(disk_server.dsn("plain")) as own,
        sampling(disk_server, "plain") as sampler,
    ):
        own.execute("SELECT 1")
        rows: list[dict[str, Any]] = []

        def own_seen() -> bool:
            rows.extend(row for row in rows_of(sampler.take_waits()) if row["pid"] is not None)
            return len(rows) > 5

        wait_until(own_seen, "the own session, idle in its transaction")
        assert {row["pid"] for row in rows} == {own.info.backend_pid}
        assert {row["state"] for row in rows} == {"idle in transaction"}
        wait_until(lambda: any("pg_monitor" in w for w in sampler.warnings()), "a warning")


def test_the_waits_of_a_commit_belong_to_their_transaction_and_scenario(
    disk_server: LabServer,
) -> None:
    script = "BEGIN;\nINSERT INTO committed VALUES (2);\nSELECT pg_sleep(0.05);\nCOMMIT;\n"
    parameters = resolve(disk_server.dsn())
    load = _core.Load(
        json.dumps(
            {
                "connection": parameters.for_core(),
                "application_name": "pgassay",
                "scenarios": [
                    {"name": "payment", "file": "payment.sql", "script": script, "weight": 1.0}
                ],
                "steps": [{"clients": 8, "duration_s": 60.0, "measured": True, "rate": None}],
                "transactions_per_client": None,
                "protocol": "prepared",
                "threads": 1,
                "seed": 1,
                "interval_s": 1.0,
                "variables": {},
            }
        )
    )
    load.connect()
    rows: list[dict[str, Any]] = []
    with sampling(disk_server, "lab", load) as sampler:
        load.start()

        def commit_after_work() -> bool:
            rows.extend(row for row in rows_of(sampler.take_waits()) if row["scenario"])
            return bool(pairs(rows))

        try:
            wait_until(commit_after_work, "a transaction seen at work and in its commit")
        finally:
            load.stop()
            load.wait(10)
    for work, commit in pairs(rows):
        assert commit["scenario"] == work["scenario"] == "payment"
        assert commit["xact_start_ns"] == work["xact_start_ns"]


def test_a_transaction_has_the_same_start_in_every_sample(disk_server: LabServer) -> None:
    with (
        psycopg.connect(disk_server.dsn()) as own,
        busy_sessions(disk_server.dsn(), COMPUTE, COMPUTE, READ),
        sampling(disk_server, "lab") as sampler,
    ):
        row = own.execute("SELECT (extract(epoch FROM now()) * 1000000)::int8").fetchone()
        assert row is not None
        found: list[int] = []

        def seen_often() -> bool:
            rows = rows_of(sampler.take_waits())
            found.extend(one["xact_start_ns"] for one in rows if one["pid"] == own.info.backend_pid)
            return len(found) >= 100

        wait_until(seen_often, "a transaction seen in many ticks")
    # One machine has one clock.
    assert set(found) == {row[0] * 1000 & ~((1 << 20) - 1)}


def pairs(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A session asleep in its transaction, and the same one a moment later waiting for WAL."""
    last: dict[int, dict[str, Any]] = {}
    found = []
    for row in rows:
        before = last.get(row["pid"])
        if (
            before is not None
            and before["wait_event"] == "PgSleep"
            and class_of(row["wait_event_type"], row["wait_event"]) == "wal"
            and row["xact_start_ns"] is not None
            and row["tick_ns"] - before["tick_ns"] < 45_000_000
        ):
            found.append((before, row))
        last[row["pid"]] = row
    return found
