"""Gates of real runs: a loss of 5 % that is planted in one arm fails, no loss holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.runs.command import shop_workload
from support.runs.forked import run

pytestmark = pytest.mark.heavy
LIMIT_S = 500
SPEC = """
[workload]
use = "./shop"
[factors.scenarios]
buy = ["", "change.sql"]
[load]
clients = 8
step = "3.5s"
warmup = "0.2s"
[reset]
level = "none"
[design]
seed = 3
min_blocks = 4
max_blocks = 24
"""
"""More than 200 transactions of a client in each trial, and little work for a processor."""


@pytest.mark.parametrize(("seconds", "status"), [(0.0158, 3), (0.0150, 0)])
def test_a_planted_loss_of_5_percent_ends_with_3_and_none_with_0(
    seconds: float, status: int, own_base: Path, tmp_path: Path
) -> None:
    shop_workload(tmp_path, "SELECT pg_sleep(0.015);")
    (tmp_path / "change.sql").write_text(f"SELECT pg_sleep({seconds}); -- changed")
    (tmp_path / "lab.toml").write_text(SPEC)
    command = ["-m", "pgassay", "run", str(tmp_path / "lab.toml"), "--out", str(tmp_path / "run")]
    done = run([*command, "--gate", "throughput>-2%"], dict(os.environ), LIMIT_S)
    assert done.returncode == status, done.stdout + done.stderr
