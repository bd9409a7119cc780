"""`pgassay queries` on a server of the user's: all arms at once, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg

from pgassay.samples.run_directory import RunDirectory
from support.runs.command import pgassay
from support.servers.lab import SECRET, LabServer


def test_a_set_runs_on_a_server_whose_data_stay_as_they_are(
    lab_server: LabServer, tmp_path: Path
) -> None:
    with psycopg.connect(lab_server.dsn(), autocommit=True) as session:
        session.execute(
            "CREATE TABLE kept AS SELECT n, n % 9 AS kind FROM generate_series(1, 999) n"
        )
    folder, run = tmp_path / "reports", tmp_path / "run"
    folder.mkdir()
    sort = "SELECT kind, count(*) FROM kept GROUP BY kind ORDER BY 2"
    (folder / "sort.sql").write_text(sort)
    (folder / "more.sql").write_text(
        f"-- name: taken\nDELETE FROM kept;\n-- name: two\n{sort}; {sort}"
    )
    done = pgassay(
        *("queries", str(folder), "--dsn", lab_server.place(), "--out", str(run)),
        *("--vary", "work_mem=4MB,64MB", "--max-blocks", "2", "--json"),
        PGPASSWORD=SECRET,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdicts"][0]["metric"] == "queries_mean"
    stored = RunDirectory.open(run)
    plan = stored.plan()
    assert plan.together
    assert plan.queries is not None
    assert set(plan.queries.chosen) == {"sort", "taken", "two"}, "a first trial has said how often"
    assert stored.finished() == [1, 2, 3, 4]
    for number, planned in enumerate(plan.trials[:4], 1):
        trial = stored.trial(number)
        rows = trial.queries()
        assert rows is not None
        assert set(rows["arm"].to_pylist()) == {planned.arm}
        codes = dict(zip(rows["query"].to_pylist(), rows["sqlstate"].to_pylist(), strict=True))
        assert codes == {"sort": None, "taken": "25006", "two": None}
        assert {one.query for one in trial.query_plans() if one.plan} == {"sort"}
        assert trial.table("waits").num_rows > 0
        assert trial.table("postgres").num_rows == 0
    with psycopg.connect(lab_server.dsn()) as session:
        assert session.execute("SELECT count(*) FROM kept").fetchone() == (999,)
