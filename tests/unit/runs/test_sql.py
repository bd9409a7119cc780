"""`pgassay sql` answers any question to many runs, and changes nothing."""

from __future__ import annotations

import csv
import importlib
import io
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

import pgassay
from pgassay.errors import PgassayError
from pgassay.runs import database
from pgassay.runs.catalogue import TABLES
from support.refusals import refused
from support.runs.command import pgassay as command
from support.runs.json_page import documented
from support.synthetic.directories import synthetic_run
from support.synthetic.folders import EFFECTS

HOSTILE = 'o\'brien "x"; --<script>\u202e\U0001f4a3 =cmd()'


def rows(query: str, folder: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pgassay.sql(query, folder).to_pylist()
    return found


def test_verdicts_are_those_of_the_runs(runs: Path) -> None:
    found = rows("select run, verdict from verdicts order by run", runs)
    verdicts = {str(row["run"]): row["verdict"] for row in found}
    assert set(verdicts) == set(EFFECTS)
    assert (verdicts["wal"], verdicts["wal-worse"]) == ("better", "worse")


def test_trials_of_an_unfinished_run_and_samples_of_an_observation_are_there(runs: Path) -> None:
    (row,) = rows("select count(*) as n from trials where run = 'unfinished'", runs)
    assert row["n"] == 4
    (row,) = rows("select count(*) n, max(trial) trial from waits where run = 'watched'", runs)
    assert row == {"n": 10, "trial": 1}
    found = rows("select run, kind, state from runs order by run", runs)
    assert {"run": "watched", "kind": "observation", "state": "unfinished"} in found
    assert {"run": "wal", "kind": "run", "state": "finished"} in found


def test_a_single_run_can_be_asked(runs: Path) -> None:
    assert rows("select distinct run from seconds", runs / "wal") == [{"run": "wal"}]


def test_columns_that_older_runs_lack_are_null(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "old", blocks=1)
    synthetic_run(tmp_path / "new", blocks=1)
    for file in run.path.glob("trials/*/checkpoints.parquet"):
        pq.write_table(pq.read_table(file).drop_columns(["redo_lsn", "restartpoint"]), file)
    for file in run.path.glob("trials/*/events.parquet"):
        file.unlink()
    found = rows("select run, count(*) n, count(restartpoint) told from checkpoints group by 1"
                 " order by 1", tmp_path)  # fmt: skip
    assert [(row["run"], row["n"], row["told"]) for row in found] == [("new", 4, 4), ("old", 4, 0)]
    assert rows("select distinct run from events", tmp_path) == [{"run": "new"}]


def test_a_run_that_cannot_be_read_is_left_out_with_one_warning(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    broken = tmp_path / "runs" / "wal"
    (broken / "trials" / "0001" / "waits.parquet").write_bytes(b"PAR1")
    (tmp_path / "runs" / "wal-again" / "analysis.json").write_text("{")
    done = command("sql", "select run, count(*) from waits group by 1", tmp_path / "runs")
    assert done.returncode == 0
    assert "wal-worse" in done.stdout
    assert [line for line in done.stderr.splitlines() if line] == [
        line for line in done.stderr.splitlines() if line.startswith("warning: left out: ")
    ]
    with refused("cannot-be-read", f"{broken}/trials/0001/waits.parquet") as unreadable:
        TABLES["waits"].check(broken)
    assert str(unreadable.value) in done.stderr
    done = command("sql", "select run, count(*) from verdicts group by 1", tmp_path / "runs")
    assert "wal-again" not in done.stdout
    again = tmp_path / "runs" / "wal-again"
    with refused("damaged", f"{again}/analysis.json") as damaged:
        TABLES["verdicts"].of([again])
    assert str(damaged.value) in done.stderr


@pytest.mark.parametrize(
    "query",
    [
        "copy trials to '{}/x'",
        "copy (select 1) to '{}/x.parquet'",
        "export database '{}/x'",
        "attach '{}/x' as x",
        "attach ':memory:' as x",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set lock_configuration = false",
        "pragma enable_profiling",
        "call enable_logging(storage = 'file', storage_path = '{}/x')",
        "create table x as select 1",
        "create persistent secret x (type http)",
        "insert into trials select * from trials",
        "explain analyze copy trials to '{}/x'",
        "prepare x as copy trials to '{}/x'",
        "select 1; copy trials to '{}/x'",
        "select * from '{}/secret.csv'",
        "select * from read_csv('{}/secret.csv')",
        "select * from read_text('/etc/passwd')",
        "select * from read_blob('{}/*')",
        "select * from glob('{}/*')",
        "select * from read_parquet('https://127.0.0.1/x')",
        "select * from runs_paths",
    ],
)
def test_sql_reads_and_writes_nothing_but_the_tables(
    query: str, runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.csv").write_text("secret\n1\n")
    with pytest.raises(PgassayError):
        pgassay.sql(query.format(tmp_path), runs)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


def test_the_lock_alone_keeps_files_safe(tmp_path: Path) -> None:
    # Behind the refusal of statements that are no queries, DuckDB itself must refuse them.
    (tmp_path / "secret.csv").write_text("secret\n1\n")
    locked = database.locked_connection()
    for query in ("copy (select 1) to '{}/x'", "attach '{}/x'", "export database '{}/x'",
                  "install httpfs", "load httpfs", "set enable_external_access = true",
                  "set temp_directory = '{}'", "from '{}/secret.csv'",
                  "create persistent secret x (type http)"):  # fmt: skip
        with pytest.raises(duckdb.Error):
            locked.execute(query.format(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


def test_a_mistake_is_one_line_that_names_what_is_there(runs: Path) -> None:
    done = command("sql", "select tsp from trials", runs)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert '"tps"' in done.stderr
    assert "holds no runs" in command("sql", "select 1", runs / "wal" / "trials").stderr


def test_a_reader_that_has_enough_ends_the_answer_in_silence(runs: Path) -> None:
    program = 'pgassay sql "select * from waits" $0 --format csv | head -1'
    called = program.replace("pgassay", f"{shlex.quote(sys.executable)} -m pgassay", 1)
    done = subprocess.run(
        ["sh", "-c", called, runs], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("run,trial,")
    assert done.stderr == ""


def test_hostile_names_come_out_inert(tmp_path: Path) -> None:
    synthetic_run(tmp_path / HOSTILE, blocks=1)
    query = "select distinct run, '=cmd()' as \"a|b\" from seconds"
    found = json.loads(command("sql", query, tmp_path, "--format", "json").stdout)
    assert found["rows"] == [{"run": HOSTILE, "a|b": "=cmd()"}]
    lines = list(csv.reader(io.StringIO(command("sql", query, tmp_path, "--format", "csv").stdout)))
    assert lines == [["run", "a|b"], [HOSTILE, "'=cmd()"]]
    shown = command("sql", query, tmp_path).stdout
    assert "\u202e" not in shown
    text = command("sql", query, tmp_path, "--format", "md").stdout
    assert "a\\|b" in text
    assert "<script>" not in text


def test_an_answer_goes_into_a_file_in_every_format(runs: Path, tmp_path: Path) -> None:
    query = "select run, tps, 1 as tps, [1, 2] as list, null as n from trials order by 1 limit 3"
    for name in ("table", "csv", "json", "md", "parquet"):
        done = command("sql", query, runs, "--format", name, "--out", tmp_path / name)
        assert (done.returncode, done.stdout) == (0, "")
    found = json.loads((tmp_path / "json").read_text("utf-8"))
    assert set(found) == documented("the answer", "pgassay.sql/1")
    assert [one["name"] for one in found["columns"]] == ["run", "tps", "tps_1", "list", "n"]
    assert pq.read_table(tmp_path / "parquet").to_pylist() == found["rows"]
    assert len((tmp_path / "md").read_text("utf-8").splitlines()) == 5
    assert "--out" in command("sql", query, runs, "--format", "parquet").stderr


def test_without_a_query_the_tables_are_listed(tmp_path: Path) -> None:
    shown = command("sql").stdout
    assert "verdicts: the comparisons of each run's primary metric" in shown
    assert "latency_p99_ms" in shown


def test_without_duckdb_sql_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.delitem(sys.modules, "pgassay.runs.database")
    with refused("no-sql-extra"):
        importlib.import_module("pgassay.runs.database")
