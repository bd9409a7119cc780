"""One load from several machines: real engines on the nodes of a real Ray cluster."""

from __future__ import annotations

import json
import os
import pickle
import signal
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay import _core
from pgassay.cluster.calls import answers
from pgassay.cluster.joining import joined
from pgassay.cluster.nodes import Cluster
from pgassay.errors import TrialError
from pgassay.plan.steps import Step
from pgassay.server.connection.session import resolve
from pgassay.trials.load import generator
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.generator import LoadGenerator
from pgassay.trials.load.generators.on_ray import GeneratorOnNode, OnRay, refuse_other_server
from pgassay.trials.load.group import GeneratorLost, OnThisMachine
from support.cluster.generator_load import committed, dsn_of, emptied, request_of, rows_of
from support.cluster.ray_nodes import RayNodes
from support.cluster.worker import MortalGenerator
from support.refusals import refused
from support.runs.command import pgassay, shop_workload
from support.servers.lab import SECRET, LabServer

NODES = 3
EACH = 200


@pytest.fixture(scope="module")
def nodes(lab_server: LabServer) -> Iterator[RayNodes]:
    # Nodes find the password as libpq does, in their own environment.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", SECRET)
        with RayNodes(cpus=(1,) * NODES, resources=({},) * NODES) as nodes:
            yield nodes


@pytest.fixture(scope="module")
def cluster(nodes: RayNodes) -> Iterator[Cluster]:
    with joined(nodes.address) as cluster:
        yield cluster


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
def test_three_generators_count_what_one_does_and_the_server_agrees_exactly(
    lab_server: LabServer, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    request = request_of([Step(7, 1.0, measured=True)], EACH)
    here, dsn = resolve(dsn_of(lab_server)), dsn_of(lab_server)
    emptied(lab_server)
    commits = [committed(lab_server)]
    for runs in (False, True):  # opening alone commits too
        with cluster.spread(GeneratorOnNode, None, cpus=1) as actors:
            load = EngineLoad(request, here, OnRay(actors, goes_on=False), dsn=dsn)
            three = load.run(lambda _: None) if runs else {}
        commits.append(committed(lab_server))
    opening, whole = commits[1] - commits[0], commits[2] - commits[1]
    assert whole - opening == three["transactions"] == 7 * EACH
    assert rows_of(lab_server) == dict.fromkeys(range(7), EACH)
    generators = three["generators"]
    assert [one["connections"] for one in generators] == [3, 2, 2]
    assert sum(one["transactions"] for one in generators) == 7 * EACH
    one = EngineLoad(request, here, OnThisMachine()).run(lambda _: None)
    assert (one["transactions"], one["connections"]) == (7 * EACH, three["connections"])
    assert "generators" not in one


def test_three_generators_begin_within_20_ms(
    lab_server: LabServer, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    emptied(lab_server)
    request = request_of([Step(7, 0.3, measured=True)], EACH)
    here, dsn = resolve(dsn_of(lab_server)), dsn_of(lab_server)

    def within_ms() -> float:
        with cluster.spread(GeneratorOnNode, None, cpus=1) as actors:
            load = EngineLoad(request, here, OnRay(actors, goes_on=False), dsn=dsn)
            begun = load.run(lambda _: None)["generators"]
        return float(max(one["start_skew_ms"] + one["clock_error_ms"] for one in begun))

    # A processor that other tests hold delays one start; a fault of the method delays each.
    assert any(within_ms() < 20 for _ in range(5))


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
def test_a_generator_that_dies_makes_the_trial_invalid_and_the_others_stop(
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
        assert len(generators.names) == NODES - 1
        again = EngineLoad(
            replace(request, steps=[Step(6, 0.5, measured=True)]),
            here,
            generators,
            dsn=dsn_of(lab_server),
        ).run(lambda _: None)
        assert [one["connections"] for one in again["generators"]] == [3, 3]


def spread(server: LabServer, ray: str, folder: Path) -> Path:
    spec = folder / "spread.toml"
    spec.write_text(f"""
question = "Does more work_mem help?"
[target]
dsn = "{dsn_of(server)}"
[workload]
use = "{shop_workload(folder, "SELECT pg_sleep(0.001);")}"
[factors.client.settings]
work_mem = ["4MB", "8MB"]
[load]
clients = 4
step = "1s"
warmup = "0.2s"
[load.generators]
ray = "{ray}"
count = 2
[design]
min_blocks = 2
max_blocks = 2
""")
    return spec


def test_a_plan_says_where_the_load_comes_from(lab_server: LabServer, tmp_path: Path) -> None:
    spec = spread(lab_server, "10.0.0.1:6379", tmp_path)
    planned = json.loads(pgassay("plan", spec, "--json", PGPASSWORD=SECRET).stdout)
    assert planned["generators"] == {
        "ray": "10.0.0.1:6379", "count": 2, "resource": None, "lost": "stop",
    }  # fmt: skip
    shown = pgassay("plan", spec, PGPASSWORD=SECRET, COLUMNS="500").stdout
    assert "from 2 nodes of the Ray cluster at 10.0.0.1:6379" in shown


@pytest.mark.heavy
def test_a_run_takes_its_load_from_the_nodes_and_says_so(
    lab_server: LabServer, nodes: RayNodes, tmp_path: Path
) -> None:
    spec = spread(lab_server, nodes.address, tmp_path)
    done = pgassay("run", spec, "--out", tmp_path / "run", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    environment = json.loads((tmp_path / "run" / "environment.json").read_text())
    assert len(environment["load_generators"]) == 2
    for folder in sorted((tmp_path / "run" / "trials").iterdir()):
        trial = json.loads((folder / "trial.json").read_text())
        assert [one["connections"] for one in trial["load"]["generators"]] == [2, 2]
        assert trial["validity"]["valid"], trial["validity"]
        assert not [one for one in trial["warnings"] if "foreign" in one or "other sessions" in one]
