"""A duet on real servers: one server for each arm, all up at once, the load alternating."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.broken import (
    assert_no_server_left,
    assert_nothing_open,
    postmasters_below,
    watched,
)
from support.runs.command import pgassay, shop_workload
from support.servers.lab import installation_named

DUET = """
[workload]
use = "{use}"
[factors.target]
version = [16, 18]
[load]
clients = 2
step = "8s"
warmup = "0.5s"
[design]
mode = "auto"
slice = "250ms"
min_blocks = 2
max_blocks = 2
seed = 5
"""
SLOWER_ON_18 = """
SELECT pg_sleep(CASE WHEN current_setting('server_version_num')::int >= 180000
                THEN 0.05 ELSE 0.005 END);
"""


@pytest.mark.heavy
def test_a_killed_duet_is_resumed_with_both_servers_up_and_finds_the_slower_version(
    tmp_path: Path, own_base: Path
) -> None:
    for name in ("embedded-16", "embedded-18"):
        installation_named(name)
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    spec.write_text(DUET.format(use=shop_workload(tmp_path, SLOWER_ON_18)))
    with watched(run, spec) as tool:
        tool.wait_for(lambda: tool.says("(?s)trial 1 .*\\b2 clients "), "a load")
        postmasters = postmasters_below(own_base)
        tool.kill()
    assert len(postmasters) == 2
    done = pgassay("run", "--resume", run, "--json")
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["effect_pct"] < -20
    assert json.loads((run / "plan.json").read_text())["mode"] == "duet"
    planned = json.loads((run / "plan.json").read_text())["trials"]
    trials = [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/trial.json"))]
    assert len(trials) == 2
    for trial, drawn in zip(trials, planned, strict=True):
        directories = {arm: one["directory"] for arm, one in trial["reset"]["arms"].items()}
        assert directories == drawn["directories"], "as drawn, also after the kill"
        assert {one["variant"] for one in trial["load"]["slices"]} == {"a1", "a2"}
        assert trial["load"]["connections"]["count"] == 4  # two clients of each server
        versions = {arm: one["version"][:2] for arm, one in trial["reset"]["arms"].items()}
        assert versions == {"a1": "16", "a2": "18"}
        assert trial["reset"]["sampled"] == "a1"
    analysis = json.loads((run / "analysis.json").read_text())
    (tps,) = (c for c in analysis["comparisons"] if c["metric"] == "tps")
    assert (tps["blocks"], tps["rounds"]) == (2, None), "a trial is one value"
    assert analysis["environment"]["copies"] == {"copy 1": ["a1"], "copy 2": ["a2"]}
    assert any("build their own (16 / 18)" in one["text"] for one in analysis["warnings"])
    shown = pgassay("plan", spec)
    assert "build their own (16 / 18)" in " ".join(shown.stdout.split())
    assert_nothing_open(run)
    assert_no_server_left(own_base)
