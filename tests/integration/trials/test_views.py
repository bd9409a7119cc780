"""Every query of the samplers works on every server, for every role, and sees what happens."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, LiteralString

import psycopg
import pytest

from pgassay.doctor.checks import check_server
from pgassay.server.connection.session import resolve
from pgassay.server.hosts.account import Account
from pgassay.server.protocol import CONTROL_NAME, LOAD_NAME, SAMPLER_NAME, Connection
from pgassay.server.statements import statement
from pgassay.trials.sampling.not_measured import described, not_measured
from pgassay.trials.sampling.queries import extensions_in, queries_for
from pgassay.trials.sampling.samplers import open_sampler
from pgassay.trials.sampling.statement_statistics import StatementWatch
from pgassay.trials.sampling.statement_texts import read_texts
from support.servers.lab import (
    LabServer,
    installation_named,
    running_lab_server,
    scalar,
    wait_until,
)
from support.servers.pool import on_debian_15, on_every_version
from support.servers.views import rows_of

TEXT, INT8, FLOAT8 = 25, 20, 701
PRELOADED = "shared_preload_libraries = 'pg_stat_statements'\n"


@pytest.mark.parametrize("user", ["lab", "plain"])
@on_every_version
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


@pytest.mark.parametrize(
    "server_installation", ["embedded-18", "debian-15"], indirect=True, scope="module"
)
def test_a_queue_of_locks_is_a_tree_with_what_is_at_its_root(lab_server: LabServer) -> None:
    with lab_server.admin() as holder, lab_server.admin() as watcher:
        root = holder.info.backend_pid
        watcher.execute("CREATE TABLE queued AS SELECT 1 AS x")
        assert [row["whose"] for row in rows_of(watcher, "blocking")] == ["(all)"]

        def wait_for(sql: LiteralString) -> threading.Thread:
            def wait() -> None:
                with lab_server.admin() as waiter:
                    waiter.execute(sql)

            waiting = threading.Thread(target=wait)
            waiting.start()
            return waiting

        def behind() -> dict[tuple[str, str, str], dict[str, Any]]:
            found = [row for row in rows_of(watcher, "blocking") if row["whose"] != "(all)"]
            return {(row["depth"], row["locktype"], row["mode"]): row for row in found}

        with holder.transaction():
            holder.execute("SELECT x FROM queued FOR UPDATE")
            row = wait_for("UPDATE queued SET x = x + 1")
            of_row = ("1", "transactionid", "ShareLock")
            wait_until(lambda: of_row in behind(), "a row that is waited for")
            alter = wait_for("ALTER TABLE queued ADD y int")
            of_table = ("1", "relation", "AccessExclusiveLock")
            wait_until(lambda: of_table in behind(), "a table that is waited for")
            readers = [wait_for("SELECT FROM queued") for _ in range(3)]
            of_queue = ("2", "relation", "AccessShareLock")
            wait_until(
                lambda: behind().get(of_queue, {}).get("waiting") == 3, "a queue behind the first"
            )
            found = behind()
            total = next(r for r in rows_of(watcher, "blocking") if r["whose"] == "(all)")
        for thread in (row, alter, *readers):
            thread.join()
        watcher.execute("DROP TABLE queued")
    assert total["waiting"] == 5
    assert {one["held"] for one in found.values()} == {"queued"}
    assert {one["whose"] for one in found.values()} == {"idle in transaction"}
    assert {one["root_pid"] for one in found.values()} == {root}
    assert all(0 < one["longest_ms"] <= one["root_xact_ms"] for one in found.values())


def test_maintenance_under_way_is_sampled_with_its_table(lab_server: LabServer) -> None:
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


def test_two_of_one_name_are_two(lab_server: LabServer) -> None:
    parameters = lab_server.cluster.parameters("lab")
    way = f"host={parameters.host} port={lab_server.port} user=postgres dbname=lab"
    twin = f"{way} replication=database application_name=twin"
    with (
        lab_server.admin() as watcher,
        psycopg.connect(twin, autocommit=True),
        psycopg.connect(twin, autocommit=True),
    ):

        def names() -> list[str]:
            return sorted(row["application_name"] for row in rows_of(watcher, "replication"))

        wait_until(lambda: names() == ["twin", "twin #2"], "both are seen")
    with lab_server.admin() as watcher, lab_server.admin() as one, lab_server.admin() as other:
        one.execute("CREATE TABLE twice (line text)")
        try:
            with (
                one.cursor().copy("COPY twice FROM STDIN") as first,
                other.cursor().copy("COPY twice FROM STDIN") as second,
            ):
                for copy in (first, second):
                    copy.write("a line\n" * 100_000)

                def tables() -> list[str]:
                    return sorted(row["relation"] for row in rows_of(watcher, "progress"))

                wait_until(lambda: tables() == ["twice", "twice #2"], "both are seen")
        finally:
            watcher.execute("DROP TABLE twice")


def test_sessions_are_counted_by_kind_and_state(lab_server: LabServer) -> None:
    with psycopg.connect(lab_server.dsn("lab")) as idle, lab_server.admin() as watcher:
        idle.execute("SELECT 1")
        states = {(r["backend_type"], r["state"]): r for r in rows_of(watcher, "sessions")}
        assert states["client backend", "idle in transaction"]["processes"] >= 1
        assert states["checkpointer", None]["processes"] == 1


@pytest.mark.parametrize("begin", [SAMPLER_NAME, CONTROL_NAME, LOAD_NAME])
def test_a_name_that_begins_as_ours_hides_no_session(lab_server: LabServer, begin: str) -> None:
    disguised = lab_server.dsn("lab") + f" application_name='{begin} 2'"
    with psycopg.connect(disguised) as other, lab_server.admin() as watcher:
        other.execute("SELECT 1")
        busy = ("client backend", "idle in transaction")
        kinds = {(row["backend_type"], row["state"]) for row in rows_of(watcher, "sessions")}
        assert busy in kinds
        assert other.info.backend_pid in {row["pid"] for row in rows_of(watcher, "waits")}
        for asked, count in (
            ("signs/sessions", 0), ("data/sessions_in_database", 0), ("trials/fingerprint", 4),
        ):  # fmt: skip

            def alone(asked: str = asked, count: int = count) -> bool:
                return bool(watcher.execute(statement(asked)).fetchall()[0][count] == 1)

            wait_until(alone, f"one session of others in {asked}")


@pytest.fixture(scope="module", params=["embedded-18", "debian-15"])
def server_with_statements(
    request: pytest.FixtureRequest, account: Account, servers_base: Any
) -> Iterator[LabServer]:
    """Those with contrib; the extension is in a schema that must be quoted."""
    installation = installation_named(request.param)
    with running_lab_server(installation, account, servers_base, PRELOADED) as server:
        with server.admin() as session:
            session.execute('CREATE SCHEMA "My Extensions"')
            session.execute('CREATE EXTENSION pg_stat_statements SCHEMA "My Extensions"')
        yield server


def sampling_checked(server: LabServer, user: str) -> tuple[str, str]:
    (found,) = [check for check in check_server(server.dsn(user)) if check.name == "sampling"]
    return found.state, found.found


def test_doctor_asks_every_query_before_it_says_that_all_work(lab_server: LabServer) -> None:
    assert sampling_checked(lab_server, "plain")[1].count(" could not be read") == 0
    with lab_server.admin() as session:
        session.execute("REVOKE EXECUTE ON FUNCTION pg_stat_get_slru() FROM public")
    try:
        state, reported = sampling_checked(lab_server, "plain")
        assert (state, sampling_checked(lab_server, "lab")[0]) == ("note", "ok")
        assert "slru could not be read" in reported
    finally:
        with lab_server.admin() as session:
            session.execute("GRANT EXECUTE ON FUNCTION pg_stat_get_slru() TO public")


@on_every_version
def test_time_limits_of_its_role_do_not_end_a_sampler(lab_server: LabServer) -> None:
    with lab_server.admin() as session:
        version_num = session.info.server_version
        limits = ["idle_session_timeout"] * (version_num >= 140000)
        limits += ["transaction_timeout"] * (version_num >= 170000)
        for name in limits:
            session.execute(f"ALTER ROLE lab SET {name} = '100ms'".encode())
    sampler, _ = open_sampler(resolve(lab_server.dsn()), version_num, load=None, waits_every_s=0.5)
    try:
        wait_until(lambda: json.loads(sampler.cost())["wait_ticks"] >= 4, "some readings")
    finally:
        sampler.stop()
        with lab_server.admin() as session:
            session.execute("ALTER ROLE lab RESET ALL")
    assert sampler.warnings() == []


@pytest.mark.parametrize(("observes", "is_asked"), [(False, False), (True, True)])
def test_lock_trees_are_not_read_beside_a_load_that_is_measured(
    lab_server: LabServer, observes: bool, is_asked: bool
) -> None:
    parameters = resolve(lab_server.dsn())
    sampler, _ = open_sampler(parameters, 180000, load=None, observes=observes)
    sources = set[object]()
    try:
        wait_until(lambda: json.loads(sampler.cost())["counter_reads"] >= 15, "some readings")
        sources.update(sampler.take_counters()["source"])
    finally:
        sampler.stop()
    assert "cluster" in sources
    assert ("blocking" in sources) == is_asked


@on_every_version
def test_doctor_names_the_grant_that_allows_a_checkpoint(lab_server: LabServer) -> None:
    def checks(user: str) -> list[tuple[str, str]]:
        found = check_server(lab_server.dsn(user))
        return [(check.state, check.fix or "") for check in found if check.name == "CHECKPOINT"]

    assert checks("lab") == []
    ((state, fix),) = checks("plain")
    assert state == "note"
    with lab_server.admin() as session:
        if session.info.server_version < 150000:
            assert "superuser" in fix
            return
        assert fix == "GRANT pg_checkpoint TO plain;"
        session.execute(fix.encode())
        try:
            assert checks("plain") == []
        finally:
            session.execute("REVOKE pg_checkpoint FROM plain")


def watch_on(server: LabServer) -> StatementWatch:
    with server.admin() as session:
        return StatementWatch(server.admin, session.info.server_version, extensions_in(session))


def test_statement_statistics_of_a_trial_need_no_reset(server_with_statements: LabServer) -> None:
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


WORK = (
    ("SELECT count(*) FROM wide", "parallel_workers_launched", 180000),
    ("SELECT x FROM wide ORDER BY x DESC LIMIT 1 OFFSET 199999", "temp_blks_written", 130000),
    ("CREATE TEMP TABLE own AS SELECT * FROM wide", "local_blks_dirtied", 130000),
    ("SELECT sum(x + 1) FROM wide", "jit_functions", 150000),
    ("UPDATE wide SET x = x", "wal_buffers_full", 180000),
)
"""What each does, and the version from which it is reported."""


def test_statement_statistics_have_the_columns_of_their_version(
    server_with_statements: LabServer,
) -> None:
    with server_with_statements.admin() as session:
        version_num = session.info.server_version
        session.execute("CREATE TABLE wide AS SELECT generate_series(1, 200000) AS x")
        session.execute("SET work_mem = '64kB'")
        session.execute("SET parallel_setup_cost = 0")
        session.execute("SET parallel_tuple_cost = 0")
        session.execute("SET min_parallel_table_scan_size = 0")
        session.execute("SET jit = on")
        session.execute("SET jit_above_cost = 0")
        watch = watch_on(server_with_statements)
        for statement, _, _ in WORK:
            session.execute(statement.encode())
        session.execute("DROP TABLE wide, own")
    columns = watch.counters()
    assert watch.notes == ()
    grown: dict[str, float] = {}
    for name, value in zip(columns["name"], columns["value"], strict=True):
        grown[name] = max(grown.get(name, 0.0), value)
    for _, name, floor in WORK:
        assert (name in grown) == (version_num >= floor), name
    assert grown["temp_blks_written"] > 0
    assert grown["local_blks_dirtied"] > 0
    assert "since_us" not in grown
    if version_num >= 180000:
        assert grown["parallel_workers_to_launch"] >= grown["parallel_workers_launched"] > 0


def test_after_a_reset_of_the_statements_there_are_no_figures_until_the_next_reading(
    server_with_statements: LabServer,
) -> None:
    def run(session: Connection, times: int) -> None:
        for _ in range(times):
            session.execute("SELECT 'reset' || 1")

    with server_with_statements.admin() as session:
        run(session, 3)
        watch = watch_on(server_with_statements)
        run(session, 1)
        session.execute('SELECT "My Extensions".pg_stat_statements_reset()')
        run(session, 9)
        assert watch.counters()["value"] == []
        assert {note.code for note in watch.notes} <= {"trials/sampling/was-reset"}
        run(session, 4)
        columns = watch.counters()
    calls = [v for n, v in zip(columns["name"], columns["value"], strict=True) if n == "calls"]
    assert (9.0, 13.0) in pairwise(calls)


def test_texts_of_counted_statements_are_read_without_their_constants_and_secrets(
    server_with_statements: LabServer,
) -> None:
    with server_with_statements.admin() as session:
        watch = watch_on(server_with_statements)
        session.execute("SELECT upper('a text') AS \"named <b>\"")
        session.execute("CREATE ROLE texts PASSWORD 'open sesame'")
        session.execute("DROP ROLE texts")
        reach, counters = server_with_statements.admin, watch.counters()
        texts, note = read_texts(reach, extensions_in(session), counters)
        one = next(iter(texts))
        others, _ = read_texts(reach, extensions_in(session), counters, [one])
        assert others.keys() == texts.keys() - {one}
    assert note is None
    assert 'SELECT upper($1) AS "named <b>"' in texts.values()
    (created,) = [text for text in texts.values() if text.startswith("CREATE ROLE texts")]
    assert "sesame" not in created


def test_evicted_statements_are_a_note(account: Account, servers_base: Any) -> None:
    lines = PRELOADED + "pg_stat_statements.max = 100\n"
    with running_lab_server(
        installation_named("debian-15"), account, servers_base, lines
    ) as server:
        with server.admin() as session:
            session.execute("CREATE EXTENSION pg_stat_statements")
            watch = watch_on(server)
            for width in range(1, 150):
                session.execute(f"SELECT {', '.join(['1'] * width)}".encode())
        assert watch.counters()["value"] != []
        (note,) = watch.notes
        assert note.code == "trials/sampling/evicts"


def test_statements_that_could_not_be_read_once_are_read_the_next_time(
    server_with_statements: LabServer,
) -> None:
    server = server_with_statements
    with server.admin() as session, server.admin() as other:
        found = extensions_in(session)
        version_num = session.info.server_version
        slow = iter([True])

        def connect_once_in_haste() -> Connection:
            own = server.admin()
            if next(slow, False):
                own.execute("SET lock_timeout = '1ms'")
            return own

        with other.transaction():
            other.execute('LOCK TABLE "My Extensions".pg_stat_statements_info')
            watch = StatementWatch(connect_once_in_haste, version_num, found)
        assert "timeout" in str(watch.notes[0].values["said"])
        assert watch.counters()["value"] == []
        session.execute("SELECT 'again' || 1")
        assert watch.counters()["value"] != []


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


@on_debian_15
def test_an_extension_that_is_not_preloaded_is_a_note_and_not_asked(lab_server: LabServer) -> None:
    def rolled_back() -> int:
        return int(
            scalar(session, "SELECT xact_rollback FROM pg_stat_database WHERE datname = 'lab'")
        )

    with lab_server.admin() as session:
        session.execute("CREATE EXTENSION pg_stat_statements")
        try:
            before = rolled_back()
            assert watch_on(lab_server).counters()["value"] == []
            found = {one.name: one for one in check_server(lab_server.dsn())}
            assert rolled_back() == before, "a statement that fails is an error of the server"
            noted = {one.name: one for one in not_measured(session)}
        finally:
            session.execute("DROP EXTENSION pg_stat_statements")
    assert found["sampling"].state == "ok"
    for checks in (found, noted):
        assert "has not loaded its library" in checks["pg_stat_statements"].found
        fix = "shared_preload_libraries = 'pg_stat_statements', then restart"
        assert checks["pg_stat_statements"].fix == fix


def fixes_of(server: LabServer) -> dict[str, str]:
    return {check.name: check.fix for check in check_server(server.dsn()) if check.state == "note"}


@on_every_version
def test_what_settings_and_the_version_hide_has_a_line_each(lab_server: LabServer) -> None:
    checks = {
        "track_io_timing": "I/O timing",
        "track_activities": "activity of sessions",
        "compute_query_id": "query ids",
        "track_wal_io_timing": "WAL timing",
    }
    with lab_server.admin() as session:
        version = session.info.server_version
        # 13 has neither of the last two, and nothing that would enable them.
        hiding = list(checks)[: 2 if version < 140000 else None]
        for name in hiding:
            session.execute(f"ALTER ROLE lab SET {name} = off".encode())
        try:
            found = fixes_of(lab_server)
            with psycopg.connect(lab_server.dsn()) as own:
                stored = described({"": not_measured(own)})
                of_a_factor = not_measured(own, is_ours=True, varied={"track_io_timing"})
        finally:
            session.execute("ALTER ROLE lab RESET ALL")
    for name in hiding:
        assert found[checks[name]] == f"ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();"
    # One source: what a run stores is what doctor says.
    assert {one["name"]: one["fix"] for one in stored}.items() <= found.items()
    assert not any("servers" in one for one in stored)
    assert {"query ids", "WAL timing", "pg_stat_statements"} <= {one["name"] for one in stored}
    assert ("pg_stat_io" in found) == (version < 160000)
    assert "pg_buffercache" in found
    reported = {check.name: check.fix for check in of_a_factor}
    assert "I/O timing" not in reported
    if version >= 140000:
        assert reported["WAL timing"] == 'track_wal_io_timing = "on" in [settings.postgres]'
    assert "target.bin" in reported["pg_stat_statements"]


def test_what_is_on_is_not_missed(server_with_statements: LabServer) -> None:
    with server_with_statements.admin() as session:
        for name in ("track_io_timing", "track_wal_io_timing"):
            session.execute(f"ALTER ROLE lab SET {name} = on".encode())
        try:
            found = fixes_of(server_with_statements)
        finally:
            session.execute("ALTER ROLE lab RESET ALL")
    assert not {"query ids", "I/O timing", "WAL timing", "pg_stat_statements"} & found.keys()
