"""A real open loop is judged by response time, not by the throughput that its rate sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.command import pgassay

SPEC = """
[workload]
use = "payments-write"
[factors.postgres]
synchronous_commit = ["on", "off"]
[load]
clients = 4
rate = [40, 80]
step = "0.6s"
warmup = "0.2s"
[reset]
level = "none"
[design]
seed = 3
smallest_effect = "10%"
min_blocks = 4
max_blocks = 4
"""
VERDICTS = ("better", "worse", "negligible", "equivalent", "undecided")


@pytest.mark.heavy
def test_an_open_loop_has_its_verdict_on_the_mean_response_time(
    own_base: Path, tmp_path: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC)
    planned = json.loads(pgassay("plan", spec, "--json").stdout)
    assert planned["metric"] == "response_mean"
    assert [one["metric"] for one in planned["endpoints"]] == ["response_p99"]
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    assert [(one["metric"], one["step"]) for one in verdicts] == [
        ("response_mean", step) for step in (None, 40.0, 80.0)
    ]
    # How much a flush takes is the disk's business: the tests' servers lie in memory.
    assert all(one["verdict"] in VERDICTS and one["effect_pct"] for one in verdicts)
    found = json.loads((run / "analysis.json").read_text("utf-8"))
    for trial in found["trials"]:
        values = trial["whole"]["values"]
        assert values["response_mean"] >= values["latency_mean"], "it includes the wait"
    throughput = [one for one in found["comparisons"] if one["metric"] == "tps"]
    assert len(throughput) == 3
    assert {one["verdict"] for one in throughput} <= {"undecided", "better", "worse"}
    (effect,) = found["by_load"]
    assert (effect["metric"], effect["loads"]) == ("response_mean", [40.0, 80.0])
    shown = pgassay("show", run).stdout
    assert "mean response time" in shown
