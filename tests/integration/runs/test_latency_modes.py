"""On a real server, transactions of two known kinds are found as two modes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.broken import assert_no_server_left
from support.runs.command import pgassay, shop_workload

SPEC = """
question = "How long do purchases take?"
[workload]
use = "./shop"
[load]
clients = 8
step = "2s"
warmup = "0.3s"
[reset]
level = "none"
[design]
seed = 3
min_blocks = 3
max_blocks = 3
"""
# So far apart that what other tests delay stays in its mode.
BUY = "SELECT pg_sleep(CASE WHEN random() < 0.3 THEN 0.15 ELSE 0.003 END)"


def test_three_tenths_of_slow_transactions_is_a_mode_with_its_share_its_time_and_its_wait(
    own_base: Path, tmp_path: Path
) -> None:
    shop_workload(tmp_path, BUY)
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC)
    done = pgassay("run", spec, "--out", run)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((run / "analysis.json").read_text())["latency_modes"]
    fast, slow = found["modes"]
    assert 3.0 <= fast["peak_ms"]["value"] < slow["above_ms"]["value"] < 150.0
    # Nobody sleeps less than 150 ms, but a bin of the histogram, 0.1 % wide, may begin below it.
    assert 149.85 <= slow["peak_ms"]["value"] < 250.0
    # Binomial: some hundred transactions of each trial, so three standard errors are five points.
    assert slow["share_pct"]["value"] == pytest.approx(30.0, abs=6.0)
    assert slow["time_pct"]["value"] > 80.0
    assert found["near_mean_pct"]["value"] < 10.0
    assert slow["waits"][0]["event"] == "Timeout:PgSleep"
    assert "The mean latency of buy hides 2 modes" in pgassay("show", run).stdout
    assert "Modes of latency" in (run / "report.html").read_text()
    assert_no_server_left(own_base)
