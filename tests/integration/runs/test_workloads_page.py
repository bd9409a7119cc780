"""The examples of docs/workloads.md and docs/ci.md, run on the embedded server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from support.load.workloads_page import write_example
from support.runs.command import pgassay


def test_the_example_of_the_workloads_page_runs_without_a_failed_transaction(
    tmp_path: Path,
) -> None:
    spec, run = write_example(tmp_path), tmp_path / "run"
    short = (
        'rate = 200\nstep = "1s"\nwarmup = "0.2s"\n[reset]\nlevel = "none"\n'
        '[design]\nstopping = "fixed"\nmin_blocks = 2\n'
    )
    spec.write_text(spec.read_text().replace('step = "60s"\n', short))
    done = pgassay("run", spec, "--out", run)
    assert done.returncode == 0, done.stderr
    for file in sorted(run.glob("trials/*/trial.json")):
        scenarios = json.loads(file.read_text())["load"]["scenarios"]
        assert len(scenarios) == 6
        assert all(one["transactions"] > 0 and one["failed"] == 0 for one in scenarios)


FILL = """
import os, psycopg
with psycopg.connect("") as session:
    session.execute("CREATE TABLE visit AS SELECT i FROM generate_series(1, 10) i")
    session.execute("INSERT INTO customer VALUES (-1, 'NO')")
    print("filled at scale", os.environ["PGASSAY_SCALE"])
"""


def test_the_example_of_queries_in_ci_names_the_query_that_a_migration_slows_down(
    tmp_path: Path,
) -> None:
    spec, run = write_example(tmp_path, "ci.md", "queries.toml"), tmp_path / "run"
    (tmp_path / "fill.py").write_text(FILL)
    (tmp_path / "queries" / "visits.sql").write_text("SELECT count(*) FROM visit")
    program = f'[workload]\nsetup = ["{sys.executable}", "fill.py"]'
    short = "[load]\nrepeats = 1\n[design]\nmin_blocks = 4\nmax_blocks = 6\n"
    spec.write_text(spec.read_text().replace("[workload]", program) + short)
    gates = ["--gate", "latest*.blocks<+5%", "--gate", "visits.blocks<+5%"]
    done = pgassay("run", spec, "--out", run, "--json", *gates)
    assert done.returncode == 3, done.stderr
    outcomes = [one["outcome"] for one in json.loads(done.stdout)["gates"]]
    assert outcomes == ["failed", "holds"]
    assert "filled at scale 1" in (run / "setup.log").read_text()
    (tmp_path / "fill.py").write_text("raise SystemExit('no such migration')")
    done = pgassay("run", spec, "--out", tmp_path / "failing")
    assert done.returncode == 2, done.stderr
    assert "workload.setup" in done.stderr
    assert "no such migration" in done.stderr
