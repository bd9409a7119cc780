"""A real run with gates is reported and its server removed before it ends with their status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.command import last_line, pgassay

SPEC = """
[workload]
use = "payments-read"
[factors.client]
reconnect = ["never", "each_transaction"]
[load]
clients = 2
step = "0.4s"
warmup = "0.2s"
[reset]
level = "none"
[design]
seed = 3
min_blocks = 4
max_blocks = 4
"""
"""A session for every transaction costs far more than half of the throughput."""


@pytest.mark.heavy
def test_a_run_that_fails_its_gate_ends_with_3_after_its_report_is_written(
    own_base: Path, tmp_path: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC)
    gates = ("--gate", "throughput>-2%", "--gate", "throughput<+50%")
    done = pgassay("run", spec, "--out", run, "--json", *gates)
    assert done.returncode == 3, done.stderr
    assert last_line(done.stderr).startswith("pgassay: gate failed (regression): throughput>-2%: ")
    assert [one["outcome"] for one in json.loads(done.stdout)["gates"]] == ["failed", "holds"]
    assert "Gates" in (run / "report.html").read_text("utf-8")
    assert pgassay("report", run, "--gate", "throughput<+50%").returncode == 0
