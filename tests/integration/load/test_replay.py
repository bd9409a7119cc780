"""A trace is replayed: the same statements, in the same sessions, at their own times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgassay.server.connection.session import resolve
from pgassay.spec.load.trace_file import read_trace
from pgassay.trials.load.replay_load import ReplayLoad, ReplayRequest
from support.load.traces import Row, write_trace
from support.refusals import refused
from support.runs.command import pgassay, shop_workload
from support.servers.lab import LabServer
from support.servers.pool import on_newest_version

SECRET = "4111-1111"
TABLE = "CREATE TABLE paid (id int PRIMARY KEY, card text, part int, session text)"
"""The backend that wrote a row tells sessions apart."""
INSERT = (
    "INSERT INTO paid SELECT $1::int, $2::text, $3::int, pg_backend_pid()::text"
    " || current_setting('work_mem')"
)


def replayed(dsn: str, trace: Path, speed: float | None = 1.0) -> dict[str, Any]:
    load = ReplayLoad(ReplayRequest(read_trace(trace), speed, limit_s=30.0), resolve(dsn))
    return load.run(lambda progress: None)


@pytest.fixture
def dsn(lab_server: LabServer) -> str:
    with psycopg.connect(lab_server.dsn(), autocommit=True) as session:
        session.execute(f"DROP TABLE IF EXISTS paid; {TABLE}")
    return lab_server.dsn()


def rows_of(dsn: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as session:
        return session.execute("SELECT id, card, part, session FROM paid ORDER BY id").fetchall()


def two_sessions() -> list[Row]:
    """Transactions, a savepoint, a setting, a prepared statement of SQL and one of the protocol."""
    return [
        Row(0, 0, "connect"),
        Row(0, 1_000, "simple", "SET work_mem = '5MB'"),
        Row(1, 2_000, "simple", "BEGIN"),
        Row(1, 3_000, "extended", INSERT, ["1", SECRET, None]),
        Row(0, 4_000, "prepared", INSERT, ["2", "it's", "7"], "one"),
        Row(1, 5_000, "simple", "SAVEPOINT a"),
        Row(1, 6_000, "extended", INSERT, ["1", SECRET, None], sqlstate="23505"),
        Row(1, 7_000, "simple", "ROLLBACK TO a"),
        Row(0, 8_000, "prepared", INSERT, ["3", "\u20ac", None], "one"),
        Row(0, 9_000, "simple", "DEALLOCATE ALL"),
        Row(0, 10_000, "prepared", INSERT, ["4", "", "9"], "one"),
        Row(1, 11_000, "simple", "COMMIT"),
        Row(0, 12_000, "simple", f"PREPARE p AS SELECT * FROM paid WHERE card = '{SECRET}'"),
        Row(0, 13_000, "simple", "EXECUTE p"),
        Row(1, 14_000, "extended", "SELECT count(*) FROM absent WHERE id = $1", ["1"]),
        Row(1, 15_000, "disconnect"),
        Row(0, 16_000, "simple", "COPY paid FROM STDIN", sqlstate="42501"),
        Row(0, 17_000, "extended", "COPY paid FROM STDIN", [], sqlstate="57014"),
        Row(2, 18_000, "simple", "BEGIN; INSERT INTO paid VALUES (5); ROLLBACK"),
        Row(0, 20_000, "extended", "SELECT 1"),
    ]


@on_newest_version
@pytest.mark.parametrize("speed", [1.0, None])
def test_sessions_transactions_and_prepared_statements_are_those_of_the_trace(
    dsn: str, tmp_path: Path, speed: float | None
) -> None:
    result = replayed(dsn, write_trace(tmp_path / "t.parquet", two_sessions(), row_group=7), speed)
    found = rows_of(dsn)
    assert [row[:3] for row in found] == [
        (1, SECRET, None),
        (2, "it's", 7),
        (3, "\u20ac", None),
        (4, "", 9),
    ]
    writers = [row[3] for row in found]
    assert writers[1] == writers[2] == writers[3] != writers[0]
    assert writers[1].endswith("5MB")
    figures = result["replay"]
    assert result["scenarios"][0]["errors"] == {"23505": 1, "42P01": 1, "57014": 2}
    assert result["transactions"] + result["failed"] == 18
    assert (figures["failed_here_and_there"], figures["failed_here_only"]) == (3, 1)
    assert figures["failed_there_only"] == 0
    assert figures["failed_otherwise"] == {"42501/57014": 1}
    assert figures["sessions"] == 3
    assert figures["trace"]["at_once"] == 2
    assert (figures["late_own"] is None) == (speed is None)
    # One block, and nine statements outside of one that succeeded.
    assert figures["transactions"] == 10
    assert SECRET not in json.dumps(result)


def sleeping(seconds: float, count: int) -> Sequence[Row]:
    return [Row(0, at * 1000, "extended", f"SELECT pg_sleep({seconds})") for at in range(count)]


def test_a_statement_is_due_when_its_predecessor_has_answered(dsn: str, tmp_path: Path) -> None:
    result = replayed(dsn, write_trace(tmp_path / "t.parquet", sleeping(0.05, 5)))
    late = result["replay"]["late_predecessor"]
    assert late["share"] >= 0.8
    assert late["max_ms"] >= 150
    assert result["response_ms"]["mean"] >= 50
    assert result["replay"]["statements"][0]["count"] == 5


def test_speed_divides_the_time_of_the_trace(dsn: str, tmp_path: Path) -> None:
    rows = [Row(0, 0, "simple", "SELECT 1"), Row(0, 10_000_000, "simple", "SELECT 1")]
    trace = write_trace(tmp_path / "t.parquet", rows)
    assert 1.0 <= replayed(dsn, trace, 10.0)["duration_s"] < 10.0


def test_no_more_sessions_are_open_than_at_the_source(dsn: str, tmp_path: Path) -> None:
    rows: list[Row] = []
    for number in range(40):
        counted = f"INSERT INTO paid SELECT {number}, count(*) FROM paid"
        rows += [
            Row(number, 10 * number, "connect"),
            Row(number, 10 * number + 1, "simple", counted),
            Row(number, 10 * number + 2, "disconnect"),
        ]
    result = replayed(dsn, write_trace(tmp_path / "t.parquet", rows), None)
    assert result["replay"]["trace"]["at_once"] == 1
    assert result["replay"]["sessions"] == 40
    # One after the other, each saw all before it.
    assert [row[1] for row in rows_of(dsn)] == [str(number) for number in range(40)]


SPEC = """
[target]
version = 18
[workload]
use = "shop"
[load]
replay = "trace.parquet"
speed = {speed}
[reset]
level = "none"
[factors.postgres]
work_mem = ["4MB", "8MB"]
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


@pytest.mark.usefixtures("own_base")
@pytest.mark.parametrize(
    ("speed", "metric"),
    [("1.0", "response_mean"), pytest.param('"max"', "tps", marks=pytest.mark.heavy)],
)
def test_an_experiment_replays_the_same_trace_in_every_trial_and_keeps_nothing_of_it(
    tmp_path: Path, speed: str, metric: str
) -> None:
    shop_workload(tmp_path, "SELECT 1;")
    rows = [
        Row(n % 3, 2_000 * n, "extended", "SELECT $1::text, count(*) FROM item", [SECRET])
        for n in range(300)
    ]
    rows += [Row(0, 600_000, "simple", f"SELECT '{SECRET}' FROM absent", sqlstate="42P01")]
    write_trace(tmp_path / "trace.parquet", rows)
    spec = tmp_path / "replay.toml"
    spec.write_text(SPEC.format(speed=speed))
    run = tmp_path / "run"
    planned = pgassay("plan", spec)
    assert planned.returncode == 0, planned.stderr
    assert "replay of 301 statements in 3 sessions" in planned.stdout
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["verdicts"][0]["metric"] == metric
    trial = json.loads((run / "trials/0001/trial.json").read_text())["load"]
    assert trial["transactions"] == 300
    assert trial["replay"]["failed_here_and_there"] == 1
    (tmp_path / "trace.parquet").unlink()
    shown = pgassay("report", run, "--format", "md", "--out", tmp_path / "report.md")
    assert shown.returncode == 0, shown.stderr
    text = (tmp_path / "report.md").read_text()
    assert "replay of 301 statements in 3 sessions" in text
    assert "| 0 SELECT | work_mem = 8MB | 300 |" in text
    assert "| 1 SELECT" not in text, "as at the source, it always fails"
    kept = [path for path in run.rglob("*") if path.is_file()]
    assert not [path for path in kept if SECRET.encode() in path.read_bytes()]


def test_the_command_replays_a_trace_and_prints_what_happened(
    lab_server: LabServer, dsn: str, tmp_path: Path
) -> None:
    trace = write_trace(tmp_path / "t.parquet", two_sessions())
    options = ["load", "--replay", str(trace), "--speed", "2"]
    done = pgassay(*options, **lab_server.variables())
    assert done.returncode == 2, done.stderr
    assert "replay of 18 statements in 3 sessions, speed 2" in done.stdout
    assert "failed 4 (3 of them at the source, too" in done.stdout
    assert "1 failed here only" in done.stderr
    done = pgassay(*options, "--json", "--continue-on-error", **lab_server.variables())
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["replay"]["trace"]["speed"] == 2.0
    assert found["warnings"]
    assert SECRET not in done.stdout + done.stderr
    for more in (["-c", "3"], ["-f", "x.sql"]):
        done = pgassay(*options, *more, **lab_server.variables())
        assert done.returncode == 1
        assert "exclude each other" in done.stderr


def test_a_lock_that_is_never_released_ends_the_replay_at_its_time_limit(
    dsn: str, tmp_path: Path
) -> None:
    rows = [
        Row(0, 0, "simple", "BEGIN; LOCK paid"),
        Row(1, 1_000, "simple", "SELECT 1 FROM paid; SELECT pg_sleep(60)"),
        Row(0, 2_000, "simple", "SELECT pg_sleep(60)"),
    ]
    trace = read_trace(write_trace(tmp_path / "t.parquet", rows))
    load = ReplayLoad(ReplayRequest(trace, 1.0, limit_s=0.5), resolve(dsn))
    with refused("load-failed"):
        load.run(lambda progress: None)
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("SET lock_timeout = '20s'; TRUNCATE paid")
