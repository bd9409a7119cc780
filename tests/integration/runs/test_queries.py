"""`pgassay queries`: on a server of the user's nothing is written; writes follow the queries of a
trial on a server of our own."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.measures.trial import measure_trial
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run
from support.runs.command import pgassay, shop_workload
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
    assert "preparing the data that are there" in done.stderr
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
        found = measure_trial(trial).whole
        assert "tps" not in found.values, "both arms execute equally often in the same time"
        assert found.rate is not None, "shown while the run goes on"
    with psycopg.connect(lab_server.dsn()) as session:
        assert session.execute("SELECT count(*) FROM kept").fetchone() == (999,)


def test_a_folder_against_another_names_answers_that_differ(
    lab_server: LabServer, tmp_path: Path
) -> None:
    numbers = "SELECT n, n % 9 AS kind FROM generate_series(1, 99) AS n"
    folders = {
        "main": {"same": numbers, "right": numbers, "wrong": numbers, "gone": numbers},
        "pr": {
            "same": numbers,
            "right": f"{numbers} ORDER BY kind",
            "wrong": numbers.replace("% 9", "% 8"),
        },
    }
    for folder, queries in folders.items():
        (tmp_path / folder).mkdir()
        for name, sql in queries.items():
            (tmp_path / folder / f"{name}.sql").write_text(sql)
    run = tmp_path / "run"
    done = pgassay(
        *("queries", tmp_path / "pr", "--against", tmp_path / "main", "--dsn", lab_server.place()),
        *("--out", run, "--max-blocks", "2", "--repeats", "1"),
        PGPASSWORD=SECRET,
    )
    assert done.returncode == 0, done.stderr
    told = " ".join(pgassay("show", run).stdout.split())
    assert "wrong returned other rows in one arm than in another" in told
    assert "right returned" not in told
    assert "the query gone is in the folder main and not in all of them" in told
    found = analyse_run(RunDirectory.open(run)).analysis.answer.queries
    assert found is not None
    assert {one.query for one in found.effects} == {"right", "wrong"}


@pytest.mark.usefixtures("own_base")
def test_an_index_alternates_and_changes_the_queries_that_use_it_alone(tmp_path: Path) -> None:
    shop = shop_workload(tmp_path, "SELECT 1")
    folder, run = tmp_path / "reports", tmp_path / "run"
    folder.mkdir()
    (folder / "all.sql").write_text(
        "-- name: one\nSELECT id FROM item WHERE id = 7;\n-- name: sum\nSELECT sum(id) FROM item;\n"
        "-- name: none\nSELECT id FROM item WHERE id % 90000 = -1"
    )
    spec = tmp_path / "lab.toml"
    spec.write_text(
        f"[workload]\nuse = {str(shop)!r}\nqueries = {str(folder)!r}\nscale = 50000\n"
        "[load]\nrepeats = 12\n[factors.schema]\nindex = ['', 'CREATE INDEX ON item (id)']\n"
        "[design]\nmin_blocks = 4\nmax_blocks = 4\n"
    )
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    stored = RunDirectory.open(run)
    assert stored.plan().together
    for number in stored.finished():
        trial = stored.trial(number)
        used = {one.query for one in trial.query_plans() if "item_id_idx" in json.dumps(one.plan)}
        assert used == ({"one"} if trial.summary().arm == "a2" else set())
    analysis = analyse_run(stored).analysis
    (price,) = analysis.explanation.schema_prices
    assert price.made_in_s is not None
    assert price.baseline_bytes is not None
    assert price.bytes is not None
    assert price.bytes - price.baseline_bytes > 800_000
    assert analysis.queries is not None
    # Blocks say it on a busy machine, too, where four blocks of times may not.
    of = {one.query: one for one in analysis.queries.effects}
    assert of["one"].verdict is not Verdict.WORSE
    assert {name for name, one in of.items() if one.plan_differs} == {"one"}
    fewer = {name for name, one in of.items() if "blocks" in one.cost_changes}
    assert {name for name in fewer if of[name].cost_changes["blocks"].differs} == {"one"}
    assert of["one"].cost_changes["blocks"].level < 5


@pytest.mark.usefixtures("own_base")
def test_an_index_has_its_price_in_writes_room_and_time_beside_its_gain(tmp_path: Path) -> None:
    shop = shop_workload(tmp_path, "INSERT INTO item VALUES (0);")
    folder, run = tmp_path / "reports", tmp_path / "run"
    folder.mkdir()
    (folder / "one.sql").write_text("SELECT id FROM item WHERE id = 0")
    spec = tmp_path / "lab.toml"
    spec.write_text(
        f"[workload]\nqueries = {str(folder)!r}\nwrites = {str(shop)!r}\nscale = 20000\n"
        "[load]\nrepeats = 1\nstep = '0.5s'\nwarmup = '0.1s'\n"
        "[factors.schema]\nindex = ['', 'CREATE INDEX ON item (id)']\n"
        "[design]\nmin_blocks = 2\nmax_blocks = 2\n"
    )
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    stored = RunDirectory.open(run)
    for number in stored.finished():
        trial = stored.trial(number)
        writes = trial.summary().writes
        assert writes is not None
        assert writes.transactions > 0
        (planned,) = (one.plan for one in trial.query_plans())
        assert planned[0]["Plan"]["Actual Rows"] == 0, "it sees no writes"
    analysis = analyse_run(stored).analysis
    (price,) = analysis.explanation.schema_prices
    assert price.made_in_s is not None
    assert price.baseline_bytes is not None
    assert price.bytes is not None
    assert price.bytes - price.baseline_bytes > 300_000
    assert {"writes_tps", "writes_mean"} <= {one.metric for one in analysis.answer.comparisons}
    shown = pgassay("show", run).stdout
    assert "Writes: " in shown
    assert "Size of the database: " in shown
    assert "made in " in shown
