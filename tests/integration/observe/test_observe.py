"""`pgassay observe` reads a server, changes nothing on it, and outlives its restart."""

from __future__ import annotations

import csv
import json
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pgassay.errors import ExitCode
from pgassay.server.hosts.account import Account
from support.runs.command import pgassay
from support.runs.observing import busy_sessions, ended, last_reading_ns, observing
from support.servers.lab import LabServer, running_standby, scalar, wait_until
from support.servers.pool import on_every_version

# A transaction that touches no table is counted only when its session does something else.
SLOW = "SELECT pg_sleep(0.02) FROM (SELECT FROM pg_database LIMIT 1) AS one"
SLOWER = SLOW.replace("0.02", "0.1")  # also beside other tests nearly always active
STATE = """
SELECT (SELECT jsonb_object_agg(name, setting) FROM pg_settings
         WHERE name NOT LIKE '%%timeout' AND source <> 'session' AND source <> 'client')::text,
       (SELECT string_agg(oid || relname || relfilenode, ',' ORDER BY oid) FROM pg_class),
       (SELECT count(*) FROM pg_proc), (SELECT string_agg(rolname, ',') FROM pg_roles),
       pg_snapshot_xmax(pg_current_snapshot())::text
"""
# Up to 14 a database has one from its first statistics on.
RESETS = "SELECT jsonb_object_agg(datid, stats_reset) FROM pg_stat_database"
AUTOVACUUM = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%'"


@pytest.fixture
def quiet_server(lab_server: LabServer) -> LabServer:
    """The server without autovacuum, which would change it too."""
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET autovacuum = off")
        session.execute("SELECT pg_reload_conf()")
        wait_until(lambda: scalar(session, AUTOVACUUM) == 0, "autovacuum is off")
    return lab_server


def state_of(server: LabServer) -> tuple[Any, ...]:
    """Settings, relations, functions, roles, the next transaction id."""
    with server.admin() as session:
        row = session.execute(STATE.encode()).fetchone()
    assert row is not None
    return tuple(row)


def commits_of(server: LabServer) -> int:
    """Returns the commits in all databases since the statistics were reset."""
    with server.admin() as session:
        return int(scalar(session, "SELECT sum(xact_commit) FROM pg_stat_database"))


def resets_of(server: LabServer) -> dict[str, str]:
    """When the statistics of each database were reset last."""
    with server.admin() as session:
        found = scalar(session, RESETS)
    return {database: at for database, at in found.items() if at is not None}


@on_every_version
def test_an_observation_records_the_server_in_every_format_and_changes_nothing(
    quiet_server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    before, resets = state_of(quiet_server), resets_of(quiet_server)
    commits = commits_of(quiet_server)
    with (
        busy_sessions(quiet_server.dsn(), SLOWER, SLOWER),
        observing(quiet_server, run, "--segment", "1s", "--duration", "4s") as process,
    ):
        with quiet_server.admin() as session:
            session.execute("CHECKPOINT")
        found = ended(process)
    assert state_of(quiet_server) == before
    assert resets.items() <= resets_of(quiet_server).items()
    assert found["schema"] == "pgassay.observed/1"
    assert found["ended_by"] == "duration"
    # Two sessions that sleep 100 ms at a time make 20, fewer on a busy machine; the samplers' own
    # queries are commits of this server too. The server itself says how many there were.
    assert found["averages"]["tps"] > 5
    counted = found["seconds"] * found["averages"]["tps"]
    assert counted <= commits_of(quiet_server) - commits, "counted twice"
    assert 1.0 < found["active_sessions"] <= 2.2
    assert max(found["events"], key=found["events"].get) == "Timeout:PgSleep"
    assert found["checkpoints"] == 1
    assert not [text for text in found["warnings"] if "pg_monitor" in text]
    assert not [name for name in found["averages"] if "behind" in name], "it is no standby"
    assert len(list((run / "segments").iterdir())) >= 3
    missing = {one["name"]: one["fix"] for one in found["not_seen"]}
    fix = "ALTER SYSTEM SET track_io_timing = on; SELECT pg_reload_conf();"
    assert missing["I/O timing"] == fix
    page = (run / "report.html").read_text()
    assert fix in page
    assert "Timeout:PgSleep" in page
    assert "no verdict" in page
    shown = pgassay("show", run).stdout
    assert "Timeout:PgSleep" in shown
    assert "not measured: " in shown
    assert "I/O timing" in " ".join(shown.split())
    assert "Timeout:PgSleep" in pgassay("report", run, "--format", "md").stdout
    assert "\nTimeout:PgSleep | " in pgassay("report", run, "--format", "brief").stdout
    tables = tmp_path / "tables"
    assert pgassay("report", run, "--format", "csv", "--out", tables).returncode == 0
    (checkpoint,) = csv.DictReader((tables / "checkpoints.csv").read_text().splitlines())
    assert float(checkpoint["ended_s"]) >= 0
    assert pgassay("report", run, "--format", "xlsx").returncode == 0
    whole = json.loads(pgassay("report", run, "--format", "json").stdout)
    assert whole["checkpoints"][0]["cause"].strip()
    (classic,) = whole["classic"]["arms"]
    waits = {one["name"]: one["median"] for one in classic["figures"]}
    assert 1.0 < waits["Timeout"] <= waits["WAITINGS"] < 3.0
    assert whole["environment"]["server"]["version_num"] >= 130000
    assert whole["environment"]["sizes"]["lab"]["total_bytes"] > 1_000_000
    listed = json.loads(pgassay("list", tmp_path, "--json").stdout)["runs"]
    assert [one["verdict"] for one in listed] == ["observation"]


def test_a_restart_of_the_server_is_a_gap_and_not_a_spike(
    lab_server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"

    def commits() -> int:
        with lab_server.admin() as session:
            row = session.execute("SELECT sum(xact_commit) FROM pg_stat_database").fetchone()
        return int(row[0]) if row else 0

    with (
        busy_sessions(lab_server.dsn(), SLOW, SLOW),
        observing(lab_server, run, "--segment", "2s") as process,
    ):
        begun = commits()
        wait_until(lambda: commits() > begun + 100, "some commits")
        wait_until(lambda: segments(run) >= 1, "a segment before the restart")
        lab_server.cluster.stop(gently=True)
        stopped, before_it = time.monotonic(), segments(run)
        wait_until(lambda: has_empty_segment(run, before_it + 2), "a segment without a sample")
        wait_until(lambda: time.monotonic() > stopped + 7, "longer than the 5 s of a gap")
        lab_server.cluster.start()
        before = commits()
        wait_until(lambda: commits() > before + 100, "commits after the restart")
        later, back_ns = segments(run) + 2, time.time_ns()
        wait_until(lambda: segments(run) >= later, "a segment after the restart")
        # The server's first process is another one now.
        wait_until(lambda: last_reading_ns(run, "processes") > back_ns, "its new processes")
        process.send_signal(signal.SIGINT)
        found = ended(process)
    assert sum(found["gaps_s"]) >= 3
    assert found["averages"]["tps"] < 200
    stored = json.loads((run / "analysis.json").read_text())
    course = list(
        zip(stored["edges_ns"], stored["edges_ns"][1:], stored["courses"]["tps"], strict=False)
    )
    (gap,) = [(begin, end) for begin, end in stored["gaps_ns"] if end - begin > 3e9]
    away = [tps for begin, end, tps in course if gap[0] <= begin and end <= gap[1]]
    assert len(away) >= 3
    assert set(away) == {None}
    assert any(tps for _, end, tps in course if end <= gap[0] and tps)
    assert any(tps for begin, _, tps in course if begin >= gap[1] and tps)
    assert any("samples are missing until the server is back" in w for w in found["warnings"])
    assert not [w for w in found["warnings"] if "processes could not be read" in w]


def segments(run: Path) -> int:
    """How many segments are written."""
    return len(list((run / "segments").glob("[0-9]*")))


def has_empty_segment(run: Path, first: int) -> bool:
    """Whether some segment, from the `first` on, has not a single sample of the waits."""
    written = sorted((run / "segments").glob("0*/waits.parquet"))
    return any(pq.read_metadata(path).num_rows == 0 for path in written[first - 1 :])


def test_the_sampler_gives_up_a_lock_soon_and_an_ended_observation_has_its_report(
    lab_server: LabServer, tmp_path: Path
) -> None:
    ours = (
        "SELECT count(*), max(clock_timestamp() - query_start) FROM pg_stat_activity"
        " WHERE application_name LIKE 'pgassay%' AND wait_event_type = 'Lock'"
    )
    run = tmp_path / "run"
    with (
        lab_server.admin() as holder,
        lab_server.admin() as watcher,
        observing(lab_server, run, "--duration", "1h") as process,
        holder.transaction(),
    ):
        # The sampler reads it each second; other sessions may queue behind its own lock request.
        holder.execute("LOCK TABLE pg_stat_wal IN ACCESS EXCLUSIVE MODE")
        waits: list[Any] = []

        def has_given_up() -> bool:
            row = watcher.execute(ours.encode()).fetchone()
            assert row is not None
            waits.extend([row[1]] if row[0] else [])
            return bool(waits) and row[0] == 0

        wait_until(has_given_up, "the sampler has waited for the lock and given up")
        process.send_signal(signal.SIGTERM)
        found = ended(process, ExitCode.INTERRUPTED)
    assert max(waits).total_seconds() < 4.0  # one second, on a busy machine
    assert any("55P03" in warning for warning in found["warnings"])
    assert found["ended_by"] == "stopped"
    assert (run / "report.html").is_file()


def test_a_kill_loses_only_the_last_segment(lab_server: LabServer, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with observing(lab_server, run, "--segment", "1s") as process:
        wait_until(lambda: (run / "segments" / "000002").is_dir(), "two segments")
        process.kill()
        process.wait()
    done = pgassay("report", run)
    assert done.returncode == 0, done.stderr
    assert "was killed" in done.stdout
    assert (run / "report.html").is_file()


def test_old_segments_are_dropped_for_room_but_their_warnings_stay(
    quiet_server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    before = state_of(quiet_server)
    options = ("--segment", "1s", "--max-disk", "60kB", "--duration", "6s")
    with observing(quiet_server, run, *options, user="plain") as process:
        found = ended(process)
    assert state_of(quiet_server) == before
    assert found["dropped_segments"] > 0
    assert any("older segments were deleted" in warning for warning in found["warnings"])
    assert not (run / "segments" / "000001").exists()
    assert sum(f.stat().st_size for f in (run / "segments").glob("*/*")) < 100 * 1024
    # Said in the first segment, which is gone: this role may not read every statistic.
    assert any("pg_monitor" in warning for warning in found["warnings"])
    assert "pg_monitor" in (run / "report.html").read_text()
    assert "pg_monitor" in pgassay("report", run, "--format", "md").stdout


def test_a_standby_says_how_far_it_is_behind_its_primary(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with (
        running_standby(lab_server, account, servers_base) as standby,
        lab_server.admin() as primary,
        standby.admin() as watcher,
        busy_sessions(standby.dsn(), SLOW, SLOW),
    ):
        with observing(standby, tmp_path / "level", "--duration", "3s") as process:
            level = ended(process)
        primary.execute("CREATE TABLE replayed ()")

        def is_replayed() -> bool:
            row = watcher.execute("SELECT to_regclass('replayed') IS NOT NULL").fetchone()
            return row == (True,)

        wait_until(is_replayed, "the table on the standby")
        watcher.execute("SELECT pg_wal_replay_pause()")
        primary.execute("CREATE TABLE behind AS SELECT generate_series(1, 20000) AS x")

        def is_received() -> bool:
            sql = "SELECT pg_last_wal_receive_lsn() - pg_last_wal_replay_lsn() > 500000"
            return watcher.execute(sql).fetchone() == (True,)

        wait_until(is_received, "WAL that is received and not replayed")
        with observing(standby, run, "--duration", "3s") as process:
            found = ended(process)
    assert level["averages"]["replay_behind_bytes"] < 100_000
    assert level["events"]["Timeout:PgSleep"] > 0.5
    assert "wal" in level["averages"]
    assert not [text for text in level["warnings"] if "recovery" in text], level["warnings"]
    assert found["averages"]["replay_behind_bytes"] > 500_000
    assert found["averages"]["receive_behind_bytes"] < 500_000
    # At the end of the observation the last commit replayed is older than the observation.
    assert found["largest"]["replay_lag_ms"] > 2000
    assert 0 < found["averages"]["replay_lag_ms"] < found["largest"]["replay_lag_ms"]
    assert "Replay behind the primary" in (run / "report.html").read_text()
    assert "Replay behind the primary" in pgassay("show", run).stdout


def test_a_server_that_does_not_answer_is_one_line_and_no_directory(tmp_path: Path) -> None:
    done = pgassay("observe", "-h", "127.0.0.1", "-p", "1", "--out", tmp_path / "run")
    assert done.returncode == ExitCode.USAGE
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
