"""Every query of the samplers works on every server, for every role, and sees what happens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pgassay.target.account import Account
from pgassay.target.protocol import Connection
from pgassay.trials.checks import check_server
from pgassay.trials.queries import extensions_in, queries_for
from pgassay.trials.statement_statistics import StatementWatch
from support.servers import LabServer, installation_named, running_lab_server, wait_until

TEXT, INT8, FLOAT8 = 25, 20, 701
PRELOADED = "shared_preload_libraries = 'pg_stat_statements'\n"


def rows_of(session: Connection, name: str) -> list[dict[str, Any]]:
    sql = queries_for(session.info.server_version)[name].sql_with(extensions_in(session))
    assert sql is not None
    cursor = session.execute(sql.encode())
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


@pytest.mark.parametrize("user", ["lab", "plain"])
def test_every_query_gives_labels_and_numbers_to_any_role(lab_server: LabServer, user: str) -> None:
    with psycopg.connect(lab_server.dsn(user), autocommit=True) as session:
        extensions = extensions_in(session)
        for name, query in queries_for(session.info.server_version).items():
            sql = query.sql_with(extensions)
            if sql is None or name == "waits":
                continue
            described = session.execute(sql.encode()).description or ()
            types = {column.name: column.type_code for column in described}
            assert set(types.values()) <= {TEXT, INT8, FLOAT8}, (name, types)


def test_a_lock_waited_for_is_counted_by_its_mode(lab_server: LabServer) -> None:
    with lab_server.admin() as holder, lab_server.admin() as watcher:
        watcher.execute("CREATE TABLE locked ()")
        with holder.transaction():
            holder.execute("LOCK TABLE locked IN ACCESS EXCLUSIVE MODE")

            def wait() -> None:
                with lab_server.admin() as waiter:
                    waiter.execute("SELECT FROM locked")

            def waits() -> bool:
                modes = {row["mode"]: row for row in rows_of(watcher, "locks")}
                held = modes.get("AccessExclusiveLock", {}).get("shared_table", 0)
                return bool(held and modes.get("AccessShareLock", {}).get("waiting"))

            waiting = threading.Thread(target=wait)
            waiting.start()
            wait_until(waits, "a lock that is waited for")
        waiting.join()
        watcher.execute("DROP TABLE locked")


def test_work_under_way_is_seen_with_its_table(lab_server: LabServer) -> None:
    with lab_server.admin() as worker, lab_server.admin() as watcher:
        worker.execute("CREATE TABLE filled (x text)")
        with worker.cursor() as cursor, cursor.copy("COPY filled FROM STDIN") as copy:
            for _ in range(2000):
                copy.write("some text that fills a buffer\n")

            def seen() -> bool:
                found = [r for r in rows_of(watcher, "progress") if r["relation"] == "filled"]
                return bool(found and found[0]["command"] == "COPY FROM" and found[0]["done"])

            wait_until(seen, "a COPY in the progress views")
        worker.execute("DROP TABLE filled")


def test_sessions_are_counted_by_kind_and_state(lab_server: LabServer) -> None:
    with psycopg.connect(lab_server.dsn("lab")) as idle, lab_server.admin() as watcher:
        idle.execute("SELECT 1")
        states = {(r["backend_type"], r["state"]): r for r in rows_of(watcher, "sessions")}
        assert states["client backend", "idle in transaction"]["processes"] >= 1
        assert states["checkpointer", None]["processes"] == 1


@pytest.fixture(scope="module")
def server_with_statements(account: Account, servers_base: Any) -> Iterator[LabServer]:
    """Debian's has contrib; the extension is in a schema that must be quoted."""
    installation = installation_named("debian-15")
    with running_lab_server(installation, account, servers_base, PRELOADED) as server:
        with server.admin() as session:
            session.execute('CREATE SCHEMA "My Extensions"')
            session.execute('CREATE EXTENSION pg_stat_statements SCHEMA "My Extensions"')
        yield server


def watch_on(server: LabServer) -> StatementWatch:
    with server.admin() as session:
        return StatementWatch(server.admin, session.info.server_version, extensions_in(session))


def test_statements_of_a_trial_are_told_without_a_reset(server_with_statements: LabServer) -> None:
    server = server_with_statements
    with server.admin() as session:
        session.execute("SELECT 'before' || 1")
        watch = watch_on(server)
        for _ in range(7):
            session.execute("SELECT 'before' || 1")
        session.execute("SELECT count(*) FROM generate_series(1, 1000)")
    columns = watch.counters()
    assert watch.notes == ()
    rows = list(zip(columns["object"], columns["name"], columns["value"], strict=True))
    calls: dict[str, list[float]] = {}
    for queryid, name, value in rows:
        if name == "calls":
            calls.setdefault(queryid, []).append(value)
    assert [1.0, 8.0] in calls.values()
    assert [0.0, 1.0] in calls.values()
    assert not any("before" in str(row) for row in rows)


def test_doctor_misses_query_ids_only_where_nothing_makes_them(
    lab_server: LabServer, server_with_statements: LabServer
) -> None:
    def notes(server: LabServer) -> list[str]:
        with server.admin() as session:
            session.execute("ALTER ROLE lab SET compute_query_id = 'auto'")
            try:
                found = check_server(server.dsn())
            finally:
                session.execute("ALTER ROLE lab RESET compute_query_id")
        return [check.found for check in found if check.name == "query ids"]

    assert notes(lab_server) == ["compute_query_id is auto"]
    assert notes(server_with_statements) == []


def test_an_extension_that_is_not_preloaded_is_a_note(lab_server: LabServer) -> None:
    with lab_server.admin() as session:
        available = session.execute(
            "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_stat_statements'"
        ).fetchone()
        if available is None:
            pytest.skip("this PostgreSQL comes without contrib")
        session.execute("CREATE EXTENSION pg_stat_statements")
    try:
        watch = watch_on(lab_server)
        assert watch.counters()["value"] == []
        assert "shared_preload_libraries" in watch.notes[0]
    finally:
        with lab_server.admin() as session:
            session.execute("DROP EXTENSION pg_stat_statements")
