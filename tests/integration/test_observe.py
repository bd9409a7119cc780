"""`pgassay observe` looks at a server, leaves it as it was, and outlives what happens to it."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pgassay.errors import ExitCode
from pgassay.target.account import Account
from support.command import pgassay
from support.observing import busy_sessions, ended, last_seen, observing
from support.servers import LabServer, running_standby, wait_until

# A transaction that touches no table is not counted before the session does something else.
SLOW = "SELECT pg_sleep(0.02) FROM (SELECT FROM pg_database LIMIT 1) AS one"
AS_FOUND = """
SELECT (SELECT jsonb_object_agg(name, setting) FROM pg_settings
         WHERE name NOT LIKE '%%timeout' AND source <> 'session' AND source <> 'client')::text,
       (SELECT string_agg(oid || relname || relfilenode, ',' ORDER BY oid) FROM pg_class),
       (SELECT count(*) FROM pg_proc), (SELECT string_agg(rolname, ',') FROM pg_roles),
       pg_snapshot_xmax(pg_current_snapshot())::text,
       (SELECT string_agg(coalesce(stats_reset::text, ''), ',' ORDER BY datid)
          FROM pg_stat_database),
       (SELECT pg_current_wal_insert_lsn() - '0/0')
"""


def state_of(server: LabServer) -> tuple[Any, ...]:
    """Settings, schema, functions, roles, the next transaction id, resets of statistics."""
    with server.admin() as session:
        row = session.execute(AS_FOUND.encode()).fetchone()
    assert row is not None
    return row[:6]  # the last, WAL, moves by the server's own hand


@pytest.mark.parametrize("user", ["lab", "plain"])
def test_a_server_is_left_as_found_whatever_the_role_may_see(
    lab_server: LabServer, tmp_path: Path, user: str
) -> None:
    before = state_of(lab_server)
    with observing(lab_server, tmp_path / "run", "--duration", "3s", user=user) as process:
        told = ended(process)
    assert state_of(lab_server) == before
    assert told["schema"] == "pgassay.observed/1"
    assert told["ended_by"] == "duration"
    hidden = any("pg_monitor" in warning for warning in told["warnings"])
    assert hidden == (user == "plain")


def test_what_goes_on_is_recorded_and_told_in_every_format(
    lab_server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with (
        busy_sessions(lab_server.dsn(), SLOW, SLOW),
        observing(lab_server, run, "--segment", "2s", "--duration", "7s") as process,
    ):
        with lab_server.admin() as session:
            session.execute("CHECKPOINT")
        told = ended(process)
    # Two sessions that sleep 20 ms at a time, less what a busy machine takes from them.
    assert 5 < told["averages"]["tps"] < 110
    assert 1.0 < told["active_sessions"] <= 2.2
    assert max(told["events"], key=told["events"].get) == "Timeout:PgSleep"
    assert told["checkpoints"] == 1
    assert len(list((run / "segments").iterdir())) >= 3
    missed = {one["name"]: one["fix"] for one in told["not_seen"]}
    assert missed["I/O timing"] == "ALTER SYSTEM SET track_io_timing = on; SELECT pg_reload_conf();"
    text = (run / "report.html").read_text()
    assert missed["I/O timing"] in text
    assert "Timeout:PgSleep" in text
    assert "no verdict" in text
    shown = pgassay("show", run).stdout
    assert "Timeout:PgSleep" in shown
    assert "not seen: " in shown
    assert "I/O timing" in " ".join(shown.split())
    assert "Timeout:PgSleep" in pgassay("report", run, "--format", "md").stdout
    whole = json.loads(pgassay("report", run, "--format", "json").stdout)
    assert whole["checkpoints"][0]["cause"].strip()
    assert whole["environment"]["server"]["version_num"] >= 150000
    assert whole["environment"]["sizes"]["lab"]["total_bytes"] > 1_000_000
    listed = json.loads(pgassay("list", tmp_path, "--json").stdout)["runs"]
    assert [one["verdict"] for one in listed] == ["observation"]


def segments(run: Path) -> int:
    return len(list((run / "segments").glob("[0-9]*")))


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
        observing(lab_server, run, "--segment", "3s") as process,
    ):
        begun = commits()
        wait_until(lambda: commits() > begun + 100, "some commits")
        wait_until(lambda: segments(run) >= 1, "seconds that were seen")
        lab_server.cluster.stop(gently=True)
        before_it = segments(run)
        wait_until(lambda: is_gap(run, before_it + 2), "a segment that saw nothing")
        lab_server.cluster.start()
        before = commits()
        wait_until(lambda: commits() > before + 100, "commits after the restart")
        later, back_ns = segments(run) + 2, time.time_ns()
        wait_until(lambda: segments(run) >= later, "seconds that were seen again")
        # Its first process is another one now.
        wait_until(lambda: last_seen(run, "processes") > back_ns, "the processes found again")
        process.send_signal(signal.SIGINT)
        told = ended(process)
    assert sum(told["gaps_s"]) >= 3
    assert told["averages"]["tps"] < 200
    found = json.loads((run / "analysis.json").read_text())
    course = list(
        zip(found["edges_ns"], found["edges_ns"][1:], found["courses"]["tps"], strict=False)
    )
    (gap,) = [(begin, end) for begin, end in found["gaps_ns"] if end - begin > 3e9]
    away = [tps for begin, end, tps in course if gap[0] <= begin and end <= gap[1]]
    assert len(away) >= 3
    assert set(away) == {None}
    assert any(tps for _, end, tps in course if end <= gap[0] and tps)
    assert any(tps for begin, _, tps in course if begin >= gap[1] and tps)
    assert any("samples are missing until the server is back" in w for w in told["warnings"])
    assert any("what its processes take is missing" in w for w in told["warnings"])
    assert not [w for w in told["warnings"] if "processes could not be read" in w]


def is_gap(run: Path, least: int) -> bool:
    """Whether some segment, from the `least`-th on, has not a single tick."""
    written = sorted((run / "segments").glob("0*/waits.parquet"))
    return any(pq.read_metadata(path).num_rows == 0 for path in written[least - 1 :])


def test_nothing_waits_long_for_what_looks_on(lab_server: LabServer, tmp_path: Path) -> None:
    ours = (
        "SELECT count(*), max(clock_timestamp() - query_start) FROM pg_stat_activity"
        " WHERE application_name LIKE 'pgassay%' AND wait_event_type = 'Lock'"
    )
    with (
        lab_server.admin() as holder,
        lab_server.admin() as watcher,
        observing(lab_server, tmp_path / "run", "--duration", "6s") as process,
        holder.transaction(),
    ):
        # What it reads each second, and what somebody else may want a moment later.
        holder.execute("LOCK TABLE pg_stat_wal IN ACCESS EXCLUSIVE MODE")
        seen: list[Any] = []

        def waited() -> bool:
            row = watcher.execute(ours.encode()).fetchone()
            assert row is not None
            seen.extend([row[1]] if row[0] else [])
            return bool(seen) and row[0] == 0

        wait_until(waited, "it has waited for the lock and let go")
        told = ended(process)
    assert max(seen).total_seconds() < 4.0  # one second, on a busy machine
    assert any("55P03" in warning for warning in told["warnings"])


def test_a_kill_loses_the_last_segment_and_no_more(lab_server: LabServer, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with observing(lab_server, run, "--segment", "1s") as process:
        wait_until(lambda: (run / "segments" / "000002").is_dir(), "two segments")
        process.kill()
        process.wait()
    done = pgassay("report", run)
    assert done.returncode == 0, done.stderr
    assert "was not ended in order" in done.stdout
    assert (run / "report.html").is_file()


def test_ctrl_c_ends_it_with_what_there_is(lab_server: LabServer, tmp_path: Path) -> None:
    with observing(lab_server, tmp_path / "run", "--duration", "1h") as process:
        process.send_signal(signal.SIGTERM)
        told = ended(process, ExitCode.INTERRUPTED)
    assert told["ended_by"] == "stopped"
    assert (tmp_path / "run" / "report.html").is_file()


def test_the_oldest_segments_make_room(lab_server: LabServer, tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = ("--segment", "1s", "--max-disk", "60kB", "--duration", "6s")
    with observing(lab_server, run, *options) as process:
        told = ended(process)
    assert told["dropped_segments"] > 0
    assert any("were dropped" in warning for warning in told["warnings"])
    assert not (run / "segments" / "000001").exists()
    assert sum(f.stat().st_size for f in (run / "segments").glob("*/*")) < 100 * 1024


def test_a_warning_outlives_the_segment_that_it_came_with(
    lab_server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    options = ("--segment", "1s", "--keep", "10s", "--duration", "14s")
    with observing(lab_server, run, *options, user="plain") as process:
        told = ended(process)
    assert not (run / "segments" / "000001").exists()
    assert any("pg_monitor" in warning for warning in told["warnings"])
    assert "pg_monitor" in (run / "report.html").read_text()
    assert "pg_monitor" in pgassay("report", run, "--format", "md").stdout


def test_a_standby_can_be_observed(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    with (
        running_standby(lab_server, account, servers_base) as standby,
        busy_sessions(standby.dsn(), SLOW, SLOW),
        observing(standby, tmp_path / "run", "--duration", "4s") as process,
    ):
        told = ended(process)
    assert told["events"]["Timeout:PgSleep"] > 0.5
    assert "wal" in told["averages"]
    assert not [text for text in told["warnings"] if "recovery" in text], told["warnings"]


def test_a_standby_tells_how_far_it_is_behind(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with (
        running_standby(lab_server, account, servers_base) as standby,
        lab_server.admin() as primary,
        standby.admin() as watcher,
    ):
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

        wait_until(is_received, "WAL that waits to be replayed")
        with observing(standby, run, "--duration", "4s") as process:
            told = ended(process)
        primary.execute("DROP TABLE replayed, behind")
    assert told["averages"]["replay_behind_bytes"] > 500_000
    assert told["averages"]["receive_behind_bytes"] < 500_000
    # The last commit replayed was older than the observation at its end.
    assert told["largest"]["replay_lag_ms"] > 2000
    assert 0 < told["averages"]["replay_lag_ms"] < told["largest"]["replay_lag_ms"]
    assert "Replay behind the primary" in (run / "report.html").read_text()
    assert "Replay behind the primary" in pgassay("show", run).stdout


def test_a_standby_that_keeps_up_is_not_behind_and_a_primary_tells_nothing(
    lab_server: LabServer, account: Account, servers_base: Path, tmp_path: Path
) -> None:
    with (
        running_standby(lab_server, account, servers_base) as standby,
        observing(standby, tmp_path / "standby", "--duration", "3s") as process,
    ):
        assert ended(process)["averages"]["replay_behind_bytes"] < 100_000
    with observing(lab_server, tmp_path / "primary", "--duration", "2s") as process:
        assert not [name for name in ended(process)["averages"] if "behind" in name]


def test_a_server_that_is_not_there_leaves_no_directory(tmp_path: Path) -> None:
    done = pgassay("observe", "-h", "127.0.0.1", "-p", "1", "--out", tmp_path / "run")
    assert done.returncode == ExitCode.USAGE
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
