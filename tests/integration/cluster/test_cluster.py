"""Actors on a real Ray cluster: of this machine alone, or of several nodes on it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from pgassay.cluster.calls import ActorLost, answers, answers_or_losses
from pgassay.cluster.joining import joined
from pgassay.cluster.nodes import Cluster
from pgassay.errors import SettingRejected, SetupError
from support.cluster.ray_nodes import RayNodes
from support.cluster.worker import Worker


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    with RayNodes(cpus=(1, 1, 1), resources=({}, {"load": 1.0}, {"load": 1.0})) as nodes:
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
        assert len(set(processes)) == len(cluster.nodes()) == 3
        spans = answers([(one, "slow", (0.5,)) for one in actors], 20)
    assert max(begun for begun, _ in spans) < min(ended for _, ended in spans)


def test_a_resource_says_which_nodes_are_meant(cluster: Cluster) -> None:
    with pytest.raises(SetupError, match=r"3 nodes .* 1 CPU and 1 load each, and only 2 of its 3"):
        cluster.spread(Worker, 3, cpus=1, resource="load").__enter__()
    with pytest.raises(SetupError, match=r"every node .* 1 gpu_of_mars each, and only 0 of its 3"):
        cluster.spread(Worker, None, cpus=1, resource="gpu_of_mars").__enter__()


def test_an_error_of_ours_arrives_as_it_was_and_a_dead_actor_is_named(cluster: Cluster) -> None:
    with cluster.spread(Worker, 2, cpus=1, resource="load") as (first, second):
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
