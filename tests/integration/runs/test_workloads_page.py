"""The example of docs/workloads.md, run on the embedded server."""

from __future__ import annotations

import json
from pathlib import Path

from support.load.workloads_page import write_example
from support.runs.command import pgassay


def test_the_example_of_the_workloads_page_runs_without_a_failed_transaction(
    tmp_path: Path,
) -> None:
    spec, run = write_example(tmp_path), tmp_path / "run"
    short = 'step = "1s"\nwarmup = "0.2s"\n[design]\nstopping = "fixed"\nmin_blocks = 2\n'
    spec.write_text(spec.read_text().replace('step = "60s"\n', short))
    done = pgassay("run", spec, "--out", run)
    assert done.returncode == 0, done.stderr
    for file in sorted(run.glob("trials/*/trial.json")):
        scenarios = json.loads(file.read_text())["load"]["scenarios"]
        assert len(scenarios) == 6
        assert all(one["transactions"] > 0 and one["failed"] == 0 for one in scenarios)
