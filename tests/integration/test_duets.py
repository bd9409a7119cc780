"""Duets on real servers: all arms' servers up at once, the load going from one to the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.broken_runs import (
    assert_no_server_left,
    assert_nothing_open,
    postmasters_below,
    watched,
)
from support.command import pgassay, shop_workload
from support.servers import installation_named

DUET = """
[workload]
use = "{use}"
[factors.target{factor}]
{levels}
[load]
clients = 2
step = "8s"
warmup = "0.5s"
[design]
mode = "{mode}"
slice = "250ms"
min_blocks = {blocks}
max_blocks = {blocks}
seed = 5
"""
SLOWER_ON_18 = """
SELECT pg_sleep(CASE WHEN current_setting('server_version_num')::int >= 180000
                THEN 0.004 ELSE 0.001 END);
"""


def trial_files(run: Path) -> list[dict[str, Any]]:
    return [
        json.loads((trial / "trial.json").read_text())
        for trial in sorted((run / "trials").iterdir())
    ]


def test_a_version_that_is_slower_is_found_with_both_servers_up(
    tmp_path: Path, empty_base: Path
) -> None:
    for name in ("embedded-16", "embedded-18"):
        installation_named(name)
    folder = shop_workload(tmp_path, SLOWER_ON_18)
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    levels = "version = [16, 18]"
    spec.write_text(DUET.format(use=folder, factor="", levels=levels, mode="auto", blocks=3))
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["verdict"] == "worse"
    assert verdict["effect_pct"] < -20
    assert json.loads((run / "plan.json").read_text())["mode"] == "duet"
    trials = trial_files(run)
    assert len(trials) == 3
    for trial in trials:
        assert {one["variant"] for one in trial["load"]["slices"]} == {"a1", "a2"}
        assert trial["load"]["connections"]["count"] == 4  # two clients of each server
        versions = {arm: one["version"][:2] for arm, one in trial["reset"]["arms"].items()}
        assert versions == {"a1": "16", "a2": "18"}
        assert trial["reset"]["sampled"] == "a1"
    analysis = json.loads((run / "analysis.json").read_text())
    (tps,) = (c for c in analysis["comparisons"] if c["metric"] == "tps")
    assert (tps["blocks"], tps["rounds"]) == (3, None), "a trial is one value"
    assert "duet: all arms take turns" in (run / "report.html").read_text()
    assert_nothing_open(run)
    assert_no_server_left(empty_base)


def test_a_killed_duet_of_one_build_under_two_names_is_resumed_and_finds_nothing_much(
    tmp_path: Path, empty_base: Path
) -> None:
    installation_named("embedded-18")
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    levels = "one = 18\ntwo = 18"
    spec.write_text(
        DUET.format(use="bank-read", factor=".bin", levels=levels, mode="duet", blocks=2)
    )
    with watched(run, spec) as tool:
        tool.wait_for(lambda: tool.says("(?s)trial 1 .*\\b2 clients "), "a load")
        postmasters = postmasters_below(empty_base)
        tool.kill()
    assert len(postmasters) == 2
    done = pgassay("run", "--resume", run, "--json")
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    # One in twenty is called different; none of those by much.
    assert verdict["verdict"] in ("undecided", "equivalent", "negligible") or (
        abs(verdict["effect_pct"]) < 15
    )
    assert len(trial_files(run)) == 2
    assert_nothing_open(run)
    assert_no_server_left(empty_base)
