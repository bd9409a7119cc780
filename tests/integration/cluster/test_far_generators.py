"""One load from machines behind a slow network; one dies, or its cable is pulled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pgassay.cluster.joining import joined
from pgassay.plan.model import PlannedTrial
from pgassay.plan.steps import Step
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.connection.session import resolve
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.spec.parse import parse_spec
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.generators.on_ray import GeneratorOnNode, OnRay
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.sampling.live_view import LiveFigures
from pgassay.workflows.pipeline import run_experiment
from support.cluster.delayed_network import DelayedNetwork
from support.cluster.generator_load import committed, dsn_of, emptied, request_of, rows_of
from support.cluster.ray_nodes import RayNodes
from support.runs.command import shop_workload
from support.servers.lab import SECRET, LabServer, running_lab_server, scalar, wait_until

pytestmark = pytest.mark.heavy

FAR = 2
EACH = 40
THERE_MS, BACK_MS, JITTER_MS = 2, 8, 1


@pytest.fixture
def network() -> Iterator[DelayedNetwork]:
    """Two machines, and this one, on which the run begins and the server is."""
    with DelayedNetwork(FAR, there_ms=THERE_MS, back_ms=BACK_MS, jitter_ms=JITTER_MS) as network:
        yield network


@pytest.fixture
def server(
    network: DelayedNetwork, server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    # Autovacuum commits transactions of its own.
    with running_lab_server(
        server_installation, account, servers_base, "autovacuum = off\n", address=network.address(0)
    ) as server:
        yield server


@pytest.fixture
def nodes(network: DelayedNetwork, monkeypatch: pytest.MonkeyPatch) -> Iterator[RayNodes]:
    # Nodes find the password as libpq does, in their own environment.
    monkeypatch.setenv("PGPASSWORD", SECRET)
    size = 1 + FAR
    with RayNodes(cpus=(1,) * size, resources=({},) * size, network=network) as nodes:
        yield nodes


def test_a_slow_uneven_network_costs_no_transaction_and_the_skew_is_within_its_bound(
    network: DelayedNetwork,
    server: LabServer,
    nodes: RayNodes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dsn = dsn_of(server, network.address(0))
    began: list[int] = []
    emptied(server)
    commits = [committed(server)]
    with joined(nodes.address) as cluster:
        for runs in (False, True):  # opening alone commits too
            with cluster.spread(GeneratorOnNode, None, cpus=1) as actors:
                generators = OnRay(actors, goes_on=False)
                load = EngineLoad(
                    request_of([Step(7, 1.0, measured=True)], EACH),
                    resolve(dsn),
                    generators,
                    dsn=dsn,
                )
                real = generators.some

                def watched(
                    places: Any, method: str, limit_s: float, real: Any = real
                ) -> list[Any]:
                    found: list[Any] = real(places, method, limit_s)
                    if method == "report":
                        began.extend(at_ns for at_ns, _ in found)
                    return found

                monkeypatch.setattr(generators, "some", watched)
                three = load.run(lambda _: None) if runs else {}
            commits.append(committed(server))
    opening, whole = commits[1] - commits[0], commits[2] - commits[1]
    assert whole - opening == three["transactions"] == 7 * EACH
    assert rows_of(server) == dict.fromkeys(range(7), EACH)
    found = three["generators"]
    assert [one["connections"] for one in found] == [3, 2, 2]
    bound_ms = max(one["start_skew_ms"] + one["clock_error_ms"] for one in found)
    assert bound_ms < 20
    # They all have this machine's clock, so the truth is known.
    assert (max(began) - min(began)) / 1e6 < bound_ms


SPEC = """
question = "Does more work_mem help?"
[target]
dsn = "DSN"
[workload]
use = "SHOP"
scale = 10
[factors.client.settings]
work_mem = ["4MB", "8MB"]
[load]
clients = 6
step = "2s"
warmup = "0.2s"
[load.generators]
ray = "RAY"
lost = "continue"
[design]
min_blocks = 2
max_blocks = 2
"""
BUY = """
BEGIN;
UPDATE item SET id = id WHERE id = 1 + :client_id;
SELECT pg_sleep(0.02);
COMMIT;
"""


class _InTrial(ProgressListener):
    """Does something once, while the load of a trial runs."""

    def __init__(self, trial: int, action: Callable[[], None]) -> None:
        self.warnings: list[str] = []
        self._trial, self._action, self._current = trial, action, 0

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        self._current = trial.number

    def loading(self, progress: Mapping[str, Any], live: LiveFigures | None = None) -> None:
        if self._current == self._trial and progress["transactions"] > 0:
            self._trial = 0
            self._action()

    def warned(self, text: str) -> None:
        self.warnings.append(text)


@pytest.mark.parametrize("how", ["killed", "cut off"])
def test_a_machine_lost_in_a_trial_costs_that_trial_alone(
    how: str,
    network: DelayedNetwork,
    server: LabServer,
    nodes: RayNodes,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shop = shop_workload(tmp_path, BUY)
    text = SPEC.replace("DSN", dsn_of(server, network.address(0)))
    text = text.replace("SHOP", str(shop)).replace("RAY", nodes.address)
    run = RunDirectory.create(tmp_path / "run")
    finished: dict[int, Any] = {}

    def lose() -> None:
        finished.update({number: run.trial(number).summary() for number in run.finished()})
        if how == "cut off":
            network.cut(FAR)
        else:
            threading.Thread(target=nodes.kill, args=(FAR,)).start()

    heard = _InTrial(2, lose)
    run_experiment(parse_spec(text, source="s.toml", beside=tmp_path), run, heard)
    assert capfd.readouterr().out == "", "Ray prints nothing into what a run prints"
    assert sorted(finished) == [1]
    summaries = {number: run.trial(number).summary() for number in run.finished()}
    assert sorted(summaries) == [1, 2, 3, 4]
    assert summaries[1] == finished[1]
    for number, one in summaries.items():
        assert one.validity.valid, one.validity
        shares = [own["connections"] for own in one.load.given["generators"]]
        assert shares == ([2, 2, 2] if number == 1 else [3, 3])
    assert [one.number for one in run.failed()] == [2]
    assert [one for one in heard.warnings if "run again with those that remain" in one]
    with server.admin("postgres") as session:
        left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgassay'"
        wait_until(lambda: scalar(session, left) == 0, "no session of the load is left")
