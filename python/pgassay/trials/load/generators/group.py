"""The load generators of a run, called all at once.

Enters: the `[load.generators]` table. Leaves: a `Generators`, this machine's own or those of a Ray
cluster, while the block lasts. Never: runs a load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from pgassay import _core
from pgassay.cluster.calls import Actor, ActorLost, answers
from pgassay.cluster.joining import joined
from pgassay.errors import TrialError
from pgassay.spec.load.table import LoadTable
from pgassay.trials.load.generators.generator import LoadGenerator


class GeneratorLost(TrialError):
    """Generators that died, or could not be reached any more: their trial is no trial."""


class Generators(Protocol):
    """The load generators of a run that still work."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the generators, as reports show them."""

    @property
    def are_remote(self) -> bool:
        """Whether the generators are processes of their own, on machines with clocks of their
        own."""

    @property
    def lost(self) -> Sequence[str]:
        """The names of generators that the run has lost."""

    @property
    def native(self) -> _core.Load | None:
        """The engine's load on this machine, whose sessions the sampler can tell apart."""

    def each(
        self, method: str, arguments: Sequence[Sequence[Any]], limit_s: float, **kept: Any
    ) -> list[Any]:
        """Calls a method of every generator at the same time, each with its own arguments.

        `kept` is for a generator on this machine only. Raises GeneratorLost, and what a method
        raised.
        """

    def described(self) -> list[dict[str, Any]]:
        """Describes the machines of the generators, for environment.json."""

    def some(self, places: Sequence[int], method: str, limit_s: float) -> list[Any]:
        """Calls a method without arguments of some generators; from several threads, if need be."""

    def go_on(self) -> bool:
        """Leaves out generators that are lost; returns whether the run may go on with those that
        remain."""


class OnThisMachine:
    """The only load generator of a run, in this process."""

    names = ("this machine",)
    are_remote = False
    lost: Sequence[str] = ()

    def __init__(self) -> None:
        self._generator = LoadGenerator()

    @property
    def native(self) -> _core.Load | None:
        return self._generator.load

    def each(
        self, method: str, arguments: Sequence[Sequence[Any]], limit_s: float, **kept: Any
    ) -> list[Any]:
        (own,) = arguments
        return [getattr(self._generator, method)(*own, **kept)]

    def described(self) -> list[dict[str, Any]]:
        return [self._generator.about()]

    def some(self, places: Sequence[int], method: str, limit_s: float) -> list[Any]:
        return self.each(method, [()] * len(places), limit_s)

    def go_on(self) -> bool:
        return False


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
def load_generators(load: LoadTable) -> Iterator[Generators]:
    """Provides the load generators of a run."""
    table = load.generators
    if table is None:
        yield OnThisMachine()
        return
    with (
        joined(table.ray) as cluster,
        cluster.spread(
            LoadGenerator, table.count, cpus=load.threads, resource=table.resource
        ) as actors,
    ):
        yield OnRay(actors, goes_on=table.lost == "continue")
