"""Variants of a load's slices on real servers: what runs in them, and where it is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pgassay.plan.steps import Step
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.slices import SlicesTable
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import OnThisMachine
from support.runs.command import pgassay, shop_workload
from support.servers.lab import SECRET, LabServer

CLIENTS = 3
SCRIPT = """
INSERT INTO public.seen
VALUES ((extract(epoch FROM clock_timestamp()) * 1e9)::bigint, current_setting('work_mem'));
"""
SPEC = """
[target]
dsn = "host=127.0.0.1 port={port} user=lab dbname=lab"
[workload]
use = "{folder}"
[load]
clients = 3
step = "1s"
warmup = "0.5s"
[load.slices]
length = "250ms"
[[load.slices.variants]]
name = "as it was"
[[load.slices.variants]]
name = "little"
settings = {{ work_mem = "2MB" }}
[design]
min_blocks = 2
max_blocks = 2
"""
WORK_MEM = {"as it was": "4MB", "little": "2MB"}


def test_a_transaction_runs_under_the_settings_of_the_variant_that_counts_it(
    lab_server: LabServer, tmp_path: Path
) -> None:
    with lab_server.admin() as session:
        session.execute("DROP TABLE IF EXISTS public.seen")
        session.execute("CREATE TABLE public.seen (at_ns bigint, work_mem text)")
    spec = tmp_path / "lab.toml"
    spec.write_text(SPEC.format(port=lab_server.port, folder=shop_workload(tmp_path, SCRIPT)))
    run = tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    with lab_server.admin() as session:
        seen = session.execute("SELECT at_ns, work_mem FROM public.seen").fetchall()
    trials = sorted((run / "trials").iterdir())
    assert len(trials) == 2
    totals = dict.fromkeys(WORK_MEM, 0)
    crossing = 0
    for trial in trials:
        load = json.loads((trial / "trial.json").read_text())["load"]
        assert_each_is_counted_once(trial, load)
        assert [found["variant"] for found in load["slices"]] == [*WORK_MEM] * 2
        of_trial = sum(found["crossing"] for found in load["slices"])
        assert of_trial < load["transactions"] / 4
        strays = [
            work_mem
            for found in load["slices"]
            for at_ns, work_mem in seen
            if found["start_ns"] <= at_ns < found["end_ns"]
            and work_mem != WORK_MEM[found["variant"]]
        ]
        assert len(strays) <= of_trial, "only who crosses an edge runs as the slice before"
        crossing += of_trial
        for found in load["slices"]:
            totals[found["variant"]] += found["transactions"]
    little = sum(work_mem == "2MB" for _, work_mem in seen)
    cut_at_the_end = CLIENTS * len(trials)
    assert totals["little"] <= little <= totals["little"] + crossing + cut_at_the_end
    assert_the_report_has_both(run, totals, crossing)


def assert_each_is_counted_once(trial: Path, load: dict[str, Any]) -> None:
    rows = [row for row in pq.read_table(trial / "load.parquet").to_pylist() if row["measured"]]
    names = [found["variant"] for found in load["slices"]]
    assert sum(row["transactions"] for row in rows) == load["transactions"]
    for number, found in enumerate(load["slices"]):
        own = [row for row in rows if row["slice"] == number]
        assert {row["variant"] for row in own} == {names[number]}
        assert sum(row["transactions"] for row in own) == found["transactions"] > 0
    left = [row for row in rows if row["slice"] is None]
    assert {row["variant"] for row in left} <= {None}
    crossing = sum(found["crossing"] for found in load["slices"])
    assert sum(row["transactions"] + row["failed"] for row in left) == crossing


def assert_the_report_has_both(run: Path, totals: dict[str, int], crossing: int) -> None:
    found = json.loads((run / "analysis.json").read_text())["variants"]
    assert {one["variant"]: one["transactions"] for one in found} == totals
    assert sum(one["crossing"] for one in found) == crossing
    assert all(one["slices"] == 4 and one["tps"] > 0 and one["latency_mean_ms"] for one in found)
    assert "little" in (run / "report.html").read_text()
    reported = pgassay("report", run, "--format", "md", "--out", run / "report.md")
    assert reported.returncode == 0, reported.stderr
    assert "## Variants of the load’s slices" in (run / "report.md").read_text()


def test_prepared_statements_are_planned_anew_in_each_slice(lab_server: LabServer) -> None:
    with lab_server.admin() as session:
        session.execute("DROP TABLE IF EXISTS public.found")
        session.execute("CREATE TABLE public.found AS SELECT i FROM generate_series(1, 20000) AS i")
        session.execute("CREATE UNIQUE INDEX ON public.found (i)")
        session.execute("ANALYZE public.found")
    scans = ("enable_indexscan", "enable_bitmapscan", "enable_indexonlyscan")
    by_table = {"name": "by table", "settings": dict.fromkeys(scans, False)}
    slices = SlicesTable.model_validate(
        {"length": "250ms", "variants": [{"name": "by index"}, by_table]}
    )
    # Random keys, and far more executions than the five after which a plan is kept.
    script = "\\set i random(1, 20000)\nSELECT i FROM public.found WHERE i = :i;"
    request = LoadRequest(
        scenarios=[Scenario("find", "find.sql", script, 1.0)],
        steps=[Step(1, 1.5, measured=True)],
        variables={},
        seed=1,
        slices=slices,
    )
    host = lab_server.cluster.parameters("lab").host
    at = ConnectionParameters(host, lab_server.port, "postgres", "lab")
    result = EngineLoad(request, at, OnThisMachine()).run(lambda _: None)
    assert result["failed"] == 0
    halves: dict[str, list[float]] = {"by index": [], "by table": []}
    for found in result["slices"]:
        halves[found["variant"]].append(found["latency_ms"]["p50"])
    # Reading all rows takes twenty times as long, whatever the machine.
    assert max(halves["by index"]) * 3 < min(halves["by table"]), halves
