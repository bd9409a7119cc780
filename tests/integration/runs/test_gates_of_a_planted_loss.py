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
clients = 64
step = "2.5s"
warmup = "0.4s"
[reset]
level = "none"
[design]
seed = 3
min_blocks = 4
max_blocks = 24
"""
"""Transactions that wait, and so take little of a processor, for times that are drawn: else all
clients would end theirs at the same moment, and their number be a multiple of the clients."""
WAITS = "\\set ms random(150, 250)\nSELECT pg_sleep({slower} * :ms / 1000.0);\n"


@pytest.mark.parametrize(("slower", "status"), [("1.053", 3), ("1.000", 0)])
def test_a_planted_loss_of_5_percent_ends_with_3_and_none_with_0(
    slower: str, status: int, own_base: Path, tmp_path: Path
) -> None:
    shop_workload(tmp_path, WAITS.format(slower="1.0"))
    (tmp_path / "change.sql").write_text(WAITS.format(slower=slower))
    (tmp_path / "lab.toml").write_text(SPEC)
    command = ["-m", "pgassay", "run", str(tmp_path / "lab.toml"), "--out", str(tmp_path / "run")]
    done = run([*command, "--gate", "throughput>-2%"], dict(os.environ), LIMIT_S)
    assert done.returncode == status, done.stdout + done.stderr
