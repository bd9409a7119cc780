"""Load generators on the nodes of a Ray cluster; `generators_on_nodes` is the door of this room.

Enters: the `[load.generators]` table. Leaves: a `Generators`, one generator on each of several
nodes, while the block lasts. Never: runs a load.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pgassay import _core
from pgassay.cluster.calls import Actor, ActorLost, answers
from pgassay.cluster.joining import joined
from pgassay.cluster.on_node import OnNode
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.generators import GeneratorsTable
from pgassay.trials.load.generator import LoadGenerator
from pgassay.trials.load.generators.clocks import measured_offsets
from pgassay.trials.load.generators.sessions import end_sessions, refuse_other_server
from pgassay.trials.load.group import ClockOffset, GeneratorLost

_ANSWER_S = 10.0
"""A node that does not answer for so long has lost its network, or cannot measure."""


class GeneratorOnNode(LoadGenerator, OnNode):
    """A load generator that is an actor on a node."""


class OnRay:
    """The load generators of a run, one on each of several nodes of a cluster."""

    are_remote = True
    native: _core.Load | None = None

    def __init__(self, actors: Sequence[Actor], *, goes_on: bool) -> None:
        self._goes_on = goes_on
        self._actors = {actor.name: actor for actor in actors}
        self._about = [dict(actor.about) for actor in actors]
        self._lost: dict[str, str] = {}
        self._left_out: list[str] = []

    @property
    def names(self) -> Sequence[str]:
        return tuple(self._actors)

    @property
    def lost(self) -> Sequence[str]:
        return tuple(self._left_out)

    def each(
        self, method: str, arguments: Sequence[Sequence[Any]], limit_s: float, **kept: Any
    ) -> list[Any]:
        own = dict(zip(self._actors, arguments, strict=True))
        return self._answers({name: own[name] for name in self._left()}, method, limit_s)

    def offsets(self) -> list[ClockOffset]:
        def theirs(place: int) -> int:
            return int(self.some([place], "now_ns", _ANSWER_S)[0])

        return measured_offsets(_core.now_ns, theirs, len(self.names))

    def refuse_other_server(
        self, connection: ConnectionParameters, opened: Sequence[Collection[int]]
    ) -> None:
        refuse_other_server(connection, self.names, opened)

    def end_sessions(self, connection: ConnectionParameters) -> None:
        end_sessions(connection)

    def described(self) -> list[dict[str, Any]]:
        return self._about

    def some(self, places: Sequence[int], method: str, limit_s: float) -> list[Any]:
        return self._answers({self.names[place]: () for place in places}, method, limit_s)

    def go_on(self) -> bool:
        for name in self._lost:
            self._left_out.append(name)
            self._actors.pop(name).end()
        self._lost.clear()
        return self._goes_on and bool(self._actors)

    def _left(self) -> list[str]:
        return [name for name in self._actors if name not in self._lost]

    def _answers(
        self, arguments: Mapping[str, Sequence[Any]], method: str, limit_s: float
    ) -> list[Any]:
        calls = [(self._actors[name], method, own) for name, own in arguments.items()]
        try:
            return answers(calls, limit_s)
        except ActorLost as error:
            asked = list(arguments)
            self._lost |= {asked[place]: str(error) for place in error.places}
            raise GeneratorLost(self._loss()) from None

    def _loss(self) -> str:
        names = ", ".join(self._lost)
        why = next(iter(self._lost.values()))
        return f"the load generator on {names} is lost ({why}), so this trial is not valid"


@contextmanager
def generators_on_nodes(table: GeneratorsTable, threads: int) -> Iterator[OnRay]:
    """Joins the cluster and provides a generator on each of its nodes; `threads` is how many
    processors each needs."""
    with (
        joined(table.ray) as cluster,
        cluster.spread(
            GeneratorOnNode, table.count, cpus=threads, resource=table.resource
        ) as actors,
    ):
        yield OnRay(actors, goes_on=table.lost == "continue")
