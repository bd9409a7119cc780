"""Server, load and samplers of a real run are where the experiment puts them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support.runs.command import pgassay

SPEC = """
[workload]
use = "payments-write"
[placement]
server = {server}
client = {client}
sampler = {client}
server_nice = 1
client_nice = 2
sampler_nice = 3
[load]
clients = 2
step = "1s"
{load}
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


def placements(tmp_path: Path, load: str) -> list[dict[str, Any]]:
    cpus = sorted(os.sched_getaffinity(0))
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(server=cpus[0], client=cpus[-1], load=load))
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    environment = json.loads((run / "environment.json").read_text())
    assert environment["placement"]["server"] == f"CPUs {cpus[0]}, nice 1"
    report = pgassay("report", run, "--format", "md").stdout
    assert f"CPUs {cpus[-1]}, nice 2" in report
    found = [
        json.loads((trial / "trial.json").read_text())["placement"]
        for trial in sorted((run / "trials").iterdir())
    ]
    for placement in found:
        for part, cpu, nice in (("server", 0, "1"), ("client", -1, "2"), ("sampler", -1, "3")):
            assert (placement[part]["cpus"], placement[part]["nice"]) == (str(cpus[cpu]), nice)
    return found


@pytest.mark.usefixtures("own_base")
def test_the_engine_its_server_and_the_samplers_are_placed_in_every_trial(tmp_path: Path) -> None:
    found = placements(tmp_path, "rate = 100\nthreads = 2\nwarmup = '0.2s'")
    assert len(found) == 2
    for placement in found:
        assert int(placement["client"]["tasks"]) >= 2
        assert int(placement["server"]["tasks"]) > 4


@pytest.mark.usefixtures("own_base")
def test_a_program_of_the_users_is_placed_too(tmp_path: Path) -> None:
    program = tmp_path / "load.sh"
    program.write_text("#!/bin/sh\ngrep Cpus_allowed_list /proc/self/status; sleep 1\necho 'tps 5'")
    program.chmod(0o755)
    load = f"command = ['{program}']\nthroughput = {{ pattern = 'tps ([0-9]+)' }}"
    placements(tmp_path, load)
    log = (tmp_path / "run" / "trials" / "0001" / "command.log").read_text()
    assert f"Cpus_allowed_list:\t{max(os.sched_getaffinity(0))}\n" in log
