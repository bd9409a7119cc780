"""A fleet whose run goes into an S3 store: broken off, and continued by its URL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.cluster.ray_nodes import RayNodes
from support.runs.broken import WatchedRun
from support.runs.command import pgassay
from support.runs.s3 import s3_server

SPEC = """
question = "Does work_mem matter at this rate?"
[target.fleet]
ray = "ADDRESS"
[workload]
use = "payments-write"
[factors.postgres]
work_mem = ["5MB", "9MB"]
[load]
clients = 1
rate = 50
step = "2s"
warmup = "0.5s"
[design]
min_blocks = 4
max_blocks = 4
seed = 5
"""
FOLDER = "s3://lab/runs"
RUN = f"{FOLDER}/fleet"


@pytest.mark.heavy
def test_a_fleet_is_stored_as_it_goes_and_continued_by_its_url(
    tmp_path: Path, own_base: Path
) -> None:
    del own_base
    spec = tmp_path / "fleet.toml"
    working = tmp_path / "data/pgassay/runs/s3/lab/runs/fleet"
    with RayNodes(cpus=(1, 1), resources=({}, {})) as nodes, s3_server(tmp_path) as environment:
        spec.write_text(SPEC.replace("ADDRESS", nodes.address))
        tool = WatchedRun(working, spec, "--out", RUN, **environment)
        try:
            tool.wait_for(lambda: len(tool.finished()) >= 2, "two finished trials")
            (listed,) = json.loads(pgassay("list", FOLDER, "--json", **environment).stdout)["runs"]
            assert (listed["state"], listed["trials"] >= 1) == ("unfinished", True)
            tool.interrupt()
            assert tool.end() == 130, tool.text
        finally:
            tool.kill()
        assert f"pgassay run --resume {RUN}" in tool.text
        kept = tool.finished()
        resumed = pgassay("run", "--resume", RUN, "--json", **environment)
        assert resumed.returncode == 0, resumed.stderr
        assert f"stored in {RUN}" in resumed.stderr
        assert not working.exists(), "the store has everything"
        query = "select trial, server from trials order by 1"
        rows = json.loads(pgassay("sql", query, RUN, "--format", "json", **environment).stdout)
        assert len(rows["rows"]) >= 8
        assert {int(name) for name in kept} <= {row["trial"] for row in rows["rows"]}
        assert len({row["server"] for row in rows["rows"]}) == 2
