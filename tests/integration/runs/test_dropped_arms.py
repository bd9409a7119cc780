"""A run drops an arm whose verdict is reached, says so, and resumes by the same rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.command import pgassay

SPEC = """
question = "How long do clients think?"
[workload]
use = "payments-read"
[factors.client]
think_time = ["40ms", "240ms", "40.4ms"]
[load]
clients = 2
step = "0.6s"
warmup = "0.2s"
[reset]
level = "none"
[design]
seed = {seed}
min_blocks = 4
max_blocks = 5
smallest_effect = 0.001
"""


@pytest.mark.heavy
@pytest.mark.usefixtures("own_base")
def test_the_last_block_has_only_the_arms_whose_verdicts_are_open(tmp_path: Path) -> None:
    spec = tmp_path / "lab.toml"
    # By chance one run in twenty has a verdict on the arm of 40.4 ms at once, and ends.
    for seed in (3, 4, 5):
        spec.write_text(SPEC.format(seed=seed))
        run = tmp_path / f"run-{seed}"
        done = pgassay("run", spec, "--out", run, "--json")
        assert done.returncode == 0, done.stderr
        if "block  5" in done.stderr:
            break
    assert "think_time = 240ms has its verdict: no further trials of it" in done.stderr
    *_, last = [line for line in done.stderr.splitlines() if line.startswith("block  5")]
    assert last.endswith("(0 s left)"), "no trial of the other arm is waited for"
    trials = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    assert sorted(trial["arm"] for trial in trials if trial["block"] == 5) == ["a1", "a3"]
    assert json.loads((run / "plan.json").read_text())["dropped"] == {"a2": 4}
    slow, same = json.loads(done.stdout)["verdicts"]
    assert (slow["verdict"], slow["shared_by"], same["shared_by"]) == ("worse", 2, 1)
    page = tmp_path / "report.html"
    report = pgassay("report", run, "--format", "html", "--out", page)
    assert report.returncode == 0, report.stderr
    assert "think_time = 240ms has no trials after block 4" in page.read_text()
    again = pgassay("run", "--resume", run)
    assert "this run is finished; there is nothing to resume" in again.stderr
