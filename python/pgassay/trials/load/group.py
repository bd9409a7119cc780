"""The load generators of a run, called all at once.

Enters: the `[load]` table. Leaves: a `Generators` while the block lasts: this machine's own, or
those of the room `generators`. Never: runs a load.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from pgassay import _core
from pgassay.refusals.refusal import TrialRefused
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.table import LoadTable
from pgassay.trials.load.generator import LoadGenerator


@dataclass(frozen=True)
class ClockOffset:
    """How far the clock of a generator is ahead of this machine's, in nanoseconds."""

    theirs_minus_ours_ns: int
    error_ns: int
    """The offset is wrong by at most this."""


class GeneratorLost(TrialRefused):
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

    def offsets(self) -> list[ClockOffset]:
        """Measures how far the clock of each generator is from this machine's."""

    def refuse_other_server(
        self, connection: ConnectionParameters, opened: Sequence[Collection[int]]
    ) -> None:
        """Raises SetupError where a generator reached another server than the one measured;
        `opened` has the process ids of its sessions, generator by generator."""

    def end_sessions(self, connection: ConnectionParameters) -> None:
        """Ends the sessions that lost generators left on the server."""

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
        """Describes the machines of the generators, for environment.json; an empty list where it is
        this machine."""

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

    def offsets(self) -> list[ClockOffset]:
        return [ClockOffset(0, 0)]

    def refuse_other_server(
        self, connection: ConnectionParameters, opened: Sequence[Collection[int]]
    ) -> None:
        """Does nothing: this machine opened the sessions by the connection itself."""

    def end_sessions(self, connection: ConnectionParameters) -> None:
        """Does nothing: this machine is never lost."""

    def described(self) -> list[dict[str, Any]]:
        return []

    def some(self, places: Sequence[int], method: str, limit_s: float) -> list[Any]:
        return self.each(method, [()] * len(places), limit_s)

    def go_on(self) -> bool:
        return False


@contextmanager
def load_generators(load: LoadTable) -> Iterator[Generators]:
    """Provides the load generators of a run."""
    if load.generators is None:
        yield OnThisMachine()
        return
    # Loads of this machine alone need none of it.
    from pgassay.trials.load.generators.on_ray import generators_on_nodes

    with generators_on_nodes(load.generators, load.threads) as generators:
        yield generators
