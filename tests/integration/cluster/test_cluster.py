"""Actors and load generators on a real Ray cluster: two nodes on this machine.

All that needs one is in this file: two clusters that start at once keep a machine busy.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from pgassay.cluster.calls import ActorLost, answers, answers_or_losses
from pgassay.cluster.joining import joined
from pgassay.cluster.nodes import Cluster
from pgassay.errors import SettingRejected, SetupError
from pgassay.plan.steps import Step
from pgassay.server.connection.session import resolve
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.generators.on_ray import GeneratorOnNode, OnRay
from pgassay.trials.load.group import GeneratorLost, OnThisMachine
from support.cluster.generator_load import (
    committed,
    dsn_of,
    emptied,
    request_of,
    rows_of,
    spread_run,
)
from support.cluster.ray_nodes import RayNodes
from support.cluster.worker import MortalGenerator, Worker
from support.runs.command import pgassay
from support.servers.lab import SECRET, LabServer

EACH = 200


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    # Nodes find the password as libpq does, in their own environment.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", SECRET)
        with RayNodes(cpus=(1, 1), resources=({}, {"load": 1.0})) as nodes:
            yield nodes


@pytest.fixture(scope="module")
def cluster(nodes: RayNodes) -> Iterator[Cluster]:
    handler = signal.getsignal(signal.SIGTERM)
    with joined(nodes.address) as cluster:
        assert signal.getsignal(signal.SIGTERM) is handler, "a request to stop is pgassay's to take"
        assert "PYTHONBREAKPOINT" not in os.environ
        yield cluster


def test_actors_are_spread_over_the_nodes_and_answer_together(cluster: Cluster) -> None:
    with cluster.spread(Worker, None, cpus=1) as actors:
        processes = answers([(one, "process", ()) for one in actors], 60)
        assert len(set(processes)) == len(cluster.nodes()) == 2
        spans = answers([(one, "slow", (0.5,)) for one in actors], 20)
    assert max(begun for begun, _ in spans) < min(ended for _, ended in spans)


def test_a_resource_says_which_nodes_are_meant(cluster: Cluster) -> None:
    with pytest.raises(SetupError, match=r"2 nodes .* 1 CPU and 1 load each, and only 1 of its 2"):
        cluster.spread(Worker, 2, cpus=1, resource="load").__enter__()
    with pytest.raises(SetupError, match=r"every node .* 1 gpu_of_mars each, and only 0 of its 2"):
        cluster.spread(Worker, None, cpus=1, resource="gpu_of_mars").__enter__()


def test_an_error_of_ours_arrives_as_it_was_and_a_dead_actor_is_named(cluster: Cluster) -> None:
    with cluster.spread(Worker, 2, cpus=1) as (first, second):
        with pytest.raises(SettingRejected, match=r"^work_mem: too much$") as refused:
            answers([(first, "refuse", ())], 60)
        assert (refused.value.setting, refused.value.sqlstate) == ("work_mem", "22023")
        with pytest.raises(SettingRejected):
            answers([(first, "slow", (40.0,)), (second, "refuse", ())], 60)
        assert answers([(first, "at_work", ())], 60) == [True], "nobody waits for it"
        with pytest.raises(ActorLost, match=r"no answer within 0.2 s") as silent:
            answers([(first, "process", ()), (second, "slow", (3.0,))], 0.2)
        assert silent.value.places == (1,)
        process = answers([(second, "process", ())], 60)[0]
        os.kill(process, signal.SIGKILL)
        with pytest.raises(ActorLost) as lost:
            answers([(first, "process", ()), (second, "process", ())], 60)
        assert lost.value.places == (1,)
        pid, gone = answers_or_losses([(first, "process", ()), (second, "process", ())], 60)
        assert (pid > 0, isinstance(gone, ActorLost)) == (True, True)
        with pytest.raises(ActorLost, match=r"^its server stopped$"):
            answers([(first, "lose", ("its server stopped",))], 60)


def test_without_ray_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    says = r"^this takes Ray.*pip install 'pgassay\[ray\]'$"
    with pytest.raises(SetupError, match=says), joined("auto"):
        pass


@pytest.fixture
def no_autovacuum(lab_server: LabServer) -> Iterator[None]:
    """It commits transactions of its own."""
    with lab_server.admin("postgres") as session:
        session.execute("ALTER SYSTEM SET autovacuum = off")
        session.execute("SELECT pg_reload_conf()")
        yield
        session.execute("ALTER SYSTEM RESET autovacuum")
        session.execute("SELECT pg_reload_conf()")


@pytest.mark.usefixtures("no_autovacuum")
def test_two_generators_begin_as_one_and_count_what_one_does_and_the_server_agrees_exactly(
    lab_server: LabServer, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    request = request_of([Step(7, 1.0, measured=True)], EACH)
    here, dsn = resolve(dsn_of(lab_server)), dsn_of(lab_server)
    emptied(lab_server)
    commits = [committed(lab_server)]
    with cluster.spread(GeneratorOnNode, None, cpus=1) as actors:

        def opened(request: LoadRequest) -> EngineLoad:
            return EngineLoad(request, here, OnRay(actors, goes_on=False), dsn=dsn)

        opened(request)  # that alone commits too
        answers([(one, "stop", ()) for one in actors], 60)
        commits.append(committed(lab_server))
        two = opened(request).run(lambda _: None)
        commits.append(committed(lab_server))
        opening, whole = commits[1] - commits[0], commits[2] - commits[1]
        assert whole - opening == two["transactions"] == 7 * EACH
        assert rows_of(lab_server) == dict.fromkeys(range(7), EACH)

        def within_ms(report: Mapping[str, Any]) -> float:
            begun = report["generators"]
            return float(max(one["start_skew_ms"] + one["clock_error_ms"] for one in begun))

        # A processor that other tests hold delays one start; a fault of the method delays each.
        short = replace(request, steps=[Step(7, 0.3, measured=True)])
        again = (opened(short).run(lambda _: None) for _ in range(4))
        assert any(within_ms(report) < 20 for report in chain([two], again))
    generators = two["generators"]
    assert [one["connections"] for one in generators] == [4, 3]
    assert sum(one["transactions"] for one in generators) == 7 * EACH
    one = EngineLoad(request, here, OnThisMachine()).run(lambda _: None)
    assert (one["transactions"], one["connections"]) == (7 * EACH, two["connections"])
    assert "generators" not in one


@pytest.mark.heavy
def test_no_password_is_an_argument_or_a_result(
    lab_server: LabServer, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    with cluster.spread(GeneratorOnNode, None, cpus=1) as actors:
        generators = OnRay(actors, goes_on=False)
        real = generators.each

        def watched(method: str, arguments: Any, limit_s: float, **kept: Any) -> list[Any]:
            sent.append(arguments)
            found = real(method, arguments, limit_s, **kept)
            sent.append(found)
            return found

        monkeypatch.setattr(generators, "each", watched)
        monkeypatch.setenv("PGPASSWORD", SECRET)
        emptied(lab_server)
        here = resolve(dsn_of(lab_server))
        assert here.password == SECRET
        request = request_of([Step(3, 1.0, measured=True)], 5)
        EngineLoad(request, here, generators, dsn=dsn_of(lab_server)).run(lambda _: None)
    assert sent
    assert SECRET.encode() not in pickle.dumps(sent)


@pytest.mark.heavy
def test_a_generator_that_dies_makes_the_trial_invalid_and_the_other_stops(
    lab_server: LabServer, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    emptied(lab_server)
    request = request_of([Step(6, 30.0, measured=True)])
    with cluster.spread(MortalGenerator, None, cpus=1) as actors:
        generators = OnRay(actors, goes_on=True)
        victim = answers([(actors[1], "process", ())], 30)[0]
        here = resolve(dsn_of(lab_server))
        load = EngineLoad(request, here, generators, dsn=dsn_of(lab_server))

        def kill(progress: Mapping[str, Any]) -> None:
            if progress["transactions"] > 0:
                os.kill(victim, signal.SIGKILL)

        with pytest.raises(GeneratorLost, match=r"the load generator on .* is lost"):
            load.run(kill)
        assert generators.go_on()
        assert len(generators.names) == 1
        again = EngineLoad(
            replace(request, steps=[Step(6, 0.5, measured=True)]),
            here,
            generators,
            dsn=dsn_of(lab_server),
        ).run(lambda _: None)
        assert [one["connections"] for one in again["generators"]] == [6]


@pytest.mark.heavy
def test_a_run_takes_its_load_from_the_nodes_and_says_so(
    lab_server: LabServer, nodes: RayNodes, tmp_path: Path
) -> None:
    spec = spread_run(lab_server, nodes.address, tmp_path)
    done = pgassay("run", spec, "--out", tmp_path / "run", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    environment = json.loads((tmp_path / "run" / "environment.json").read_text())
    assert len(environment["load_generators"]) == 2
    for folder in sorted((tmp_path / "run" / "trials").iterdir()):
        trial = json.loads((folder / "trial.json").read_text())
        assert [one["connections"] for one in trial["load"]["generators"]] == [2, 2]
        assert trial["validity"]["valid"], trial["validity"]
        assert not [one for one in trial["warnings"] if "foreign" in one or "other sessions" in one]
