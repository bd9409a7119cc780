"""A fraction in split plots on a real server: which arms run, in which order, at which levels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.command import pgassay

SPEC = """
question = "Do they work together?"
[workload]
use = "payments-write"
[factors.postgres]
shared_buffers = ["16MB", "64MB"]
synchronous_commit = ["on", "off"]
jit = ["on", "off"]
[load]
clients = 2
rate = 100
step = "0.6s"
warmup = "0.3s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
plots = "split"
combinations = "fraction"
resolution = 3
"""


@pytest.mark.heavy
@pytest.mark.usefixtures("own_base")
def test_a_fraction_in_split_plots_runs_in_its_order_with_the_levels_of_each_arm(
    tmp_path: Path,
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC)
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads((run / "plan.json").read_text())
    trials = [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/trial.json"))]
    assert len(plan["arms"]) == 4
    assert len(trials) == len(plan["trials"]) == 8
    plots: dict[tuple[int, int], set[str]] = {}
    for trial, planned in zip(trials, plan["trials"], strict=True):
        assert (trial["arm"], trial["number"]) == (planned["arm"], planned["number"])
        assert trial["reset"]["settings"] == trial["levels"]
        plot = (planned["block"], planned["whole_plot"])
        plots.setdefault(plot, set()).add(trial["levels"]["shared_buffers"])
    assert len(plots) == 4
    assert all(len(levels) == 1 for levels in plots.values())
    answer = json.loads(done.stdout)
    assert {v["factor"] for v in answer["verdicts"]} == {
        "shared_buffers", "synchronous_commit", "jit",
    }  # fmt: skip
    assert any("resolution III" in warning for warning in answer["warnings"])
    report = pgassay("report", run, "--format", "md")
    assert report.returncode == 0, report.stderr
    assert "shared_buffers = −synchronous_commit × jit" in report.stdout
