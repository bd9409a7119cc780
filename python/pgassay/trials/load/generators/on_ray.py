"""Load generators on the nodes of a Ray cluster; `generators_on_nodes` is the door of this room.

Enters: the `[load.generators]` table. Leaves: a `Generators`, one generator on each of several
nodes, while the block lasts; the offset of each one's clock from ours, with the bound of its error.
Never: runs a load, or ends sessions of others, or of pgassay's own samplers.

One exchange reads our clock, theirs, and ours again: theirs was read somewhere between, so the
offset from the middle is wrong by at most half of the exchange (Cristian, Probabilistic clock
synchronization, 1989). Of several exchanges the fastest has the least error. A network that is
slower one way than back moves the middle, and never beyond that bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import psycopg

from pgassay import _core
from pgassay.cluster.calls import Actor, ActorLost, answers
from pgassay.cluster.joining import joined
from pgassay.cluster.nodes import OnNode
from pgassay.errors import TargetError
from pgassay.refusals.refusal import SetupRefused
from pgassay.server.connection.session import connect
from pgassay.server.protocol import LOAD_NAME, ConnectionParameters
from pgassay.server.statements import statement
from pgassay.spec.load.table import GeneratorsTable
from pgassay.trials.load.generator import LoadGenerator
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
        self._lost: dict[str, ActorLost] = {}
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
            self._lost |= {asked[place]: error for place in error.places}
            why = next(iter(self._lost.values()))
            raise GeneratorLost("generator-lost", names=", ".join(self._lost), why=why) from None


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


EXCHANGES = 7
AT_A_TIME = 8
"""Answers of more at the same time would wait for each other here, which counts as their way."""


def measured_offsets(
    ours: Callable[[], int], theirs: Callable[[int], int], count: int
) -> list[ClockOffset]:
    """Measures the clock offsets of several generators; `theirs` asks for the clock of one, from
    several threads."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(
            pool.map(lambda place: measured_offset(ours, partial(theirs, place)), range(count))
        )


def measured_offset(ours: Callable[[], int], theirs: Callable[[], int]) -> ClockOffset:
    """Measures the clock offset of one generator, whose clock `theirs` asks for."""
    exchanges = []
    for _ in range(EXCHANGES):
        sent = ours()
        read = theirs()
        received = ours()
        exchanges.append((received - sent, read - (sent + received) // 2))
    took, offset = min(exchanges)
    return ClockOffset(offset, took // 2 + 1)


def refuse_other_server(
    connection: ConnectionParameters, names: Sequence[str], opened: Sequence[Collection[int]]
) -> None:
    """Refuses a generator whose libpq finds another server than the one that the run measures.

    Raises SetupError.
    """
    with connect(connection) as session:
        found = session.execute(statement("trials/load_sessions"), (LOAD_NAME,)).fetchall()
    here = {pid for (pid,) in found}
    for name, pids in zip(names, opened, strict=True):
        if not here.issuperset(pids):
            raise SetupRefused(
                "generator-reaches-another-server", name=name, server=connection.label
            )


def end_sessions(connection: ConnectionParameters) -> None:
    """Ends the sessions of the load in its database and of its role; a server that does not let us
    keeps them, and the guard for sessions of others sees them at work."""
    with suppress(TargetError, psycopg.Error), connect(connection) as session:
        session.execute(statement("trials/end_load"), (LOAD_NAME,))
