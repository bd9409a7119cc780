"""What a load generator refuses and ends by itself, and what a plan says of several."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pgassay import _core
from pgassay.errors import TrialError
from pgassay.plan.steps import Step
from pgassay.server.connection.session import resolve
from pgassay.trials.load import generator
from pgassay.trials.load.generator import LoadGenerator
from pgassay.trials.load.generators.on_ray import refuse_other_server
from support.cluster.generator_load import dsn_of, emptied, request_of, spread_run
from support.refusals import refused
from support.runs.command import pgassay
from support.servers.lab import SECRET, LabServer


def test_a_generator_that_the_run_forgot_ends_its_load(
    lab_server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generator, "FORSAKEN_S", 0.3)
    monkeypatch.setattr(generator, "_LOOK_S", 0.1)
    monkeypatch.setenv("PGPASSWORD", SECRET)
    emptied(lab_server)
    one = LoadGenerator()
    one.open(request_of([Step(2, 60.0, measured=True)]), resolve(dsn_of(lab_server)))
    one.start(_core.now_ns(), None)
    assert not one.progress()["ended"]
    load = one.load
    assert load is not None
    assert load.wait(30.0)
    with pytest.raises(TrialError, match=r"heard nothing of the run for 0.3 s"):
        one.progress()


def test_a_generator_that_reached_another_server_is_refused(
    lab_server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    emptied(lab_server)
    here = resolve(dsn_of(lab_server))
    one = LoadGenerator()
    opened = one.open(request_of([Step(2, 1.0, measured=True)]), here)
    refuse_other_server(here, ["a"], [opened])
    with refused("generator-reaches-another-server"):
        refuse_other_server(here, ["a", "b"], [opened, [os.getpid()]])


def test_a_plan_says_where_the_load_comes_from(lab_server: LabServer, tmp_path: Path) -> None:
    spec = spread_run(lab_server, "10.0.0.1:6379", tmp_path)
    planned = json.loads(pgassay("plan", spec, "--json", PGPASSWORD=SECRET).stdout)
    assert planned["generators"] == {
        "ray": "10.0.0.1:6379", "count": 2, "resource": None, "lost": "stop",
    }  # fmt: skip
    shown = pgassay("plan", spec, PGPASSWORD=SECRET, COLUMNS="500").stdout
    assert "from 2 nodes of the Ray cluster at 10.0.0.1:6379" in shown
