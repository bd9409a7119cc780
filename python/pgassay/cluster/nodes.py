"""The nodes of a cluster, actors spread over them, and what every actor can say of its machine.

Enters: how many actors of which class, and what each needs. Leaves: one actor on each node, with
the machine and the pgassay on it. Never: puts two of them on one node, or waits for nodes that may
never come.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pgassay import __version__
from pgassay.cluster.calls import Actor, ActorLost, answers
from pgassay.commit import commit
from pgassay.refusals.refusal import SetupRefused

PLACING_S = 30.0
"""A free node takes an actor within a second or two; one that is just starting, somewhat longer."""
START_UP_S = 240.0
"""A process of Ray's imports pgassay in a second or two, and gives way to all else of its machine;
one that is dead is known at once."""
CALLS_AT_A_TIME = 4
"""So that an actor answers while a long call of it is under way."""


@dataclass(frozen=True)
class Node:
    """One machine, or one raylet on a machine that has several."""

    id: str
    name: str
    cpus: float


class Cluster:
    """A cluster that this process has joined."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    def nodes(self) -> list[Node]:
        """Lists the nodes that are alive, by name."""
        alive = [one for one in self._ray.nodes() if one["Alive"]]
        found = [
            Node(
                str(one["NodeID"]),
                str(one["NodeManagerHostname"] or one["NodeManagerAddress"]),
                float(one["Resources"].get("CPU", 0.0)),
            )
            for one in alive
        ]
        return sorted(found, key=lambda node: (node.name, node.id))

    @contextmanager
    def spread(
        self, kind: type[OnNode], count: int | None, *, cpus: int, resource: str | None = None
    ) -> Iterator[list[Actor]]:
        """Places an actor of a class on each of `count` nodes, on every node where that is None;
        they end with the block.

        Each takes `cpus` processors of its node, and one unit of a custom `resource`, by which a
        cluster says which of its nodes are meant. Raises SetupError where so many are not free.
        """
        wanted = {"CPU": float(cpus)} | ({resource: 1.0} if resource else {})
        fitting = self._fitting(wanted)
        if not fitting or (count is not None and count > len(fitting)):
            raise self._too_few(count, wanted, len(fitting))
        from ray.util.placement_group import placement_group, remove_placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        group = placement_group([wanted] * (count or len(fitting)), strategy="STRICT_SPREAD")
        actors: list[Actor] = []
        try:
            if not group.wait(PLACING_S):
                raise self._too_few(count, wanted, None)
            made = self._ray.remote(kind)
            for place in range(group.bundle_count):
                handle = made.options(
                    num_cpus=cpus,
                    max_restarts=0,
                    max_concurrency=CALLS_AT_A_TIME,
                    scheduling_strategy=PlacementGroupSchedulingStrategy(
                        group, placement_group_bundle_index=place
                    ),
                ).remote()
                actors.append(Actor(self._ray, handle))
            yield self._with_names(actors)
        finally:
            for actor in actors:
                actor.end()
            remove_placement_group(group)

    def _with_names(self, actors: list[Actor]) -> list[Actor]:
        """The same, once all have started; refuses another pgassay than this."""
        try:
            about = answers([(one, "about", ()) for one in actors], START_UP_S)
        except ActorLost as error:
            raise SetupRefused("node-cannot-run", why=error) from None
        refuse_other_versions(about)
        names = distinct([one["name"] for one in about])
        return [
            replace(actor, about={**one, "name": name})
            for actor, one, name in zip(actors, about, names, strict=True)
        ]

    def _fitting(self, wanted: dict[str, float]) -> list[str]:
        return [
            str(one["NodeID"])
            for one in self._ray.nodes()
            if one["Alive"]
            and all(one["Resources"].get(name, 0.0) >= amount for name, amount in wanted.items())
        ]

    def _too_few(
        self, count: int | None, wanted: dict[str, float], fitting: int | None
    ) -> SetupRefused:
        return SetupRefused(
            "nodes-held" if fitting is None else "too-few-nodes",
            asked="every node" if count is None else f"{count} nodes",
            needs=" and ".join(f"{amount:g} {name}" for name, amount in wanted.items()),
            fitting=fitting,
            there=len(self.nodes()),
        )


class OnNode:
    """The base of classes whose objects are actors."""

    def about(self) -> dict[str, Any]:
        """Returns what environment.json says of this machine and of the pgassay on it."""
        return {
            "name": platform.node() or "node",
            "kernel": f"{platform.system()} {platform.release()}",
            "cpus": len(os.sched_getaffinity(0)),
            "pgassay": __version__,
            "pgassay_commit": commit(),
        }


def refuse_other_versions(nodes: Sequence[dict[str, Any]]) -> None:
    """Raises SetupError where a node has another version of pgassay, whose objects could not be
    read, or would mean something else."""
    own = OnNode().about()
    for one in nodes:
        if _version(one) != _version(own):
            raise SetupRefused(
                "node-of-another-version", name=one["name"], theirs=_version(one), own=_version(own)
            )


def distinct(names: Sequence[str]) -> list[str]:
    """Makes a name for each node; several may share a machine."""
    return [
        name if place == names.index(name) else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


def _version(about: dict[str, Any]) -> str:
    return f"{about['pgassay']} {about['pgassay_commit']}".rstrip()
