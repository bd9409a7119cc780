"""Several factors on a real server: each trial has its arm's levels, whole plots their restart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import pgassay

SPEC = """
question = "Do they work together?"
[workload]
use = "bank-write"
scale = 1
[factors.postgres]
shared_buffers = ["16MB", "64MB"]
synchronous_commit = ["on", "off"]
{more}
[load]
clients = 2
step = "1s"
warmup = "0.5s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
{design}
"""


@pytest.mark.usefixtures("own_base")
def test_split_plots_run_in_their_order_with_their_levels(tmp_path: Path) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(more="", design='plots = "split"'))
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads((run / "plan.json").read_text())
    trials = [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/trial.json"))]
    assert len(trials) == len(plan["trials"]) == 8
    plots: dict[tuple[int, int], set[str]] = {}
    for trial, planned in zip(trials, plan["trials"], strict=True):
        assert (trial["arm"], trial["number"]) == (planned["arm"], planned["number"])
        assert trial["reset"]["settings"] == trial["levels"]
        plot = (planned["block"], planned["whole_plot"])
        plots.setdefault(plot, set()).add(trial["levels"]["shared_buffers"])
    assert all(len(levels) == 1 for levels in plots.values())
    assert len(plots) == 4
    answer = json.loads(done.stdout)
    (interaction,) = answer["interactions"]
    assert (interaction["factor"], interaction["other"]) == ("shared_buffers", "synchronous_commit")
    assert [v["factor"] for v in answer["verdicts"]] == ["shared_buffers", "synchronous_commit"]
    assert "effect of shared_buffers = 64MB" in pgassay("show", run).stdout


@pytest.mark.usefixtures("own_base")
def test_a_fraction_runs_its_arms_alone_and_can_be_reported_again(tmp_path: Path) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    design = 'combinations = "fraction"\nresolution = 3'
    spec.write_text(SPEC.format(more='jit = ["on", "off"]', design=design))
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["trials"], answer["blocks"], answer["interactions"]) == (8, 2, [])
    assert any("resolution III" in warning for warning in answer["warnings"])
    report = pgassay("report", run, "--format", "md")
    assert report.returncode == 0, report.stderr
    assert "shared_buffers = −synchronous_commit × jit" in report.stdout
