"""A real run with steps: its curves and courses come out of what a real server and host gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.samples.storage.tables import read_table
from support.runs.command import pgassay

SPEC = """
[workload]
use = "payments-write"
scale = 1
[factors.postgres]
synchronous_commit = ["on", "off"]
[load]
clients = [1, 2, 4, 8]
think_time = "5ms"
step = "0.7s"
warmup = "0.3s"
[sampling]
waits = "20ms"
[reset]
level = "none"
[design]
seed = 3
min_blocks = 3
max_blocks = 3
"""


def ticks_per_second(waits: Path) -> float:
    ticks = {at.as_py() for at in read_table(waits, "waits")["tick_ns"]}
    return float(len(ticks) / (max(ticks) - min(ticks)) * 1e9)


def test_a_real_run_of_steps_is_analysed_to_the_end(own_base: Path, tmp_path: Path) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC)
    done = pgassay("run", spec, "--out", run)
    assert done.returncode == 0, done.stderr
    # Twice the ten a second of other runs; a busy host may hold back the sampler in some trials.
    assert max(map(ticks_per_second, run.glob("trials/*/waits.parquet"))) > 20
    found = json.loads((run / "analysis.json").read_text("utf-8"))
    (effect,) = found["by_load"]
    assert effect["loads"] == [1, 2, 4, 8]
    assert effect["blocks"] == 3
    # Where the disk is so unsteady that bounds are meaningless (above 10 000 %), there are none.
    assert len(effect["band95_pct"]) == 4
    for band, shift in zip(effect["band95_pct"], effect["effect_pct"], strict=True):
        assert band is None or band[0] < shift < band[1]
    assert [curve["clients"] for curve in found["load_curves"]] == [[1, 2, 4, 8]] * 2
    assert all(curve["fit"]["rate"]["value"] > 0 for curve in found["load_curves"])
    assert [shift["step"] for shift in found["quantile_shifts"]] == [None, 1, 2, 4, 8]
    assert all(
        list(shift["level_ms"]) == sorted(shift["level_ms"]) for shift in found["quantile_shifts"]
    )
    # Whatever this host does in a second: steps of a second are too short to judge.
    assert {course["course"] for course in found["courses"]} == {"unknown"}
    assert found["associations"]["refused"] is not None
    values = found["trials"][0]["whole"]["values"]
    assert values["server_cpu_ms_per_tx"] > 0
    assert values["wal_records_per_tx"] > 0.5
    assert values["waiting_ms_per_tx"] == pytest.approx(
        sum(v for name, v in values.items() if name.startswith("wait_"))
        - values["wait_cpu_ms_per_tx"]
    )
    # What is not flushed is not waited for: the server's own counters agree with the setting.
    means = {arm["id"]: arm["means"] for arm in found["arms"]}
    assert means["a2"]["wal_syncs_per_tx"] < 0.2 * means["a1"]["wal_syncs_per_tx"]
    page = (run / "report.html").read_text("utf-8")
    assert 'data-chart="by_load"' in page
    assert 'data-chart="quantiles"' in page
