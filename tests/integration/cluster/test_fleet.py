"""Blocks of one experiment on embedded servers of several Ray nodes, one of which is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.fleet.run import is_over
from pgassay.plan.model import PlannedTrial
from pgassay.readings.trial_readings import TrialReadings
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.hosts.account import server_account
from pgassay.server.owned.workspace import base_directory, sweep
from pgassay.spec.parse import parse_spec
from pgassay.workflows.pipeline import run_experiment
from pgassay.workflows.resume import resume
from support.cluster.ray_nodes import RayNodes
from support.synthetic.fleet_members import Heard, servers_by_trial

SPEC = """
question = "Does synchronous_commit matter at this rate?"
[target.fleet]
ray = "ADDRESS"
[workload]
use = "payments-write"
[factors.postgres]
synchronous_commit = ["on", "off"]
[load]
clients = 1
rate = 50
step = "2s"
warmup = "0.5s"
[design]
min_blocks = 6
max_blocks = 6
seed = 5
"""


@pytest.fixture
def nodes() -> Iterator[RayNodes]:
    with RayNodes(cpus=(1, 1, 1), resources=({}, {}, {})) as nodes:
        yield nodes
    # As the next run on a node does with what a killed one has left there.
    sweep(base_directory(server_account()))


class _After(Heard):
    """Does something once when so many trials are stored."""

    def __init__(self, trials: int, action: object) -> None:
        super().__init__()
        self._trials, self._action = trials, action

    def trial_of_fleet(
        self, trial: PlannedTrial, label: str, server: str, tps: float | None
    ) -> None:
        super().trial_of_fleet(trial, label, server, tps)
        if len(self.stored) == self._trials and callable(self._action):
            self._action()


@pytest.mark.heavy
def test_a_node_that_is_killed_in_a_trial_loses_no_finished_trial_and_no_verdict(
    tmp_path: Path, nodes: RayNodes
) -> None:
    spec = parse_spec(SPEC.replace("ADDRESS", nodes.address), source="s.toml", beside=tmp_path)
    run = RunDirectory.create(tmp_path / "run")
    before: dict[int, str] = {}

    def kill() -> None:
        before.update(servers_by_trial(run))
        threading.Thread(target=nodes.kill, args=(2,)).start()

    heard = _After(3, kill)
    outcome = run_experiment(spec, run, heard)
    after = servers_by_trial(run)
    assert len(before) == 3
    assert before.items() <= after.items()
    assert len(set(after.values())) in (2, 3)
    assert any("is lost" in text for text in heard.warnings)
    analysis = outcome.context.analysis
    assert analysis.answer.blocks == 6
    assert analysis.answer.verdicts()
    assert len(analysis.answer.by_server) == len(analysis.answer.verdicts())
    environment = run.environment()
    assert len(environment.fleet) == 3
    assert environment.settings_that_differ == {}


@pytest.mark.heavy
def test_a_run_that_is_stopped_goes_on_with_its_servers(tmp_path: Path, nodes: RayNodes) -> None:
    spec = parse_spec(SPEC.replace("ADDRESS", nodes.address), source="s.toml", beside=tmp_path)
    run = RunDirectory.create(tmp_path / "run")

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(spec, run, _After(3, stop))
    done = servers_by_trial(run)
    assert not is_over(TrialReadings(run, run.plan()))
    outcome = resume(run, None, (), Heard())
    assert done.items() <= servers_by_trial(run).items()
    assert outcome.context.analysis.answer.blocks == 6
    assert max(run.finished()) == 12, "unfinished blocks go on where they began"
