"""Several owned servers as one target: one per version or build and dataset, or one per arm.

Enters: for each server's name, how to make it. Leaves: a `Target` whose calls go to the server that
`choose` named last. Never: lets two of them run at once, unless it was made for servers that run
side by side; those share the frozen copies of their data where they can read the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import LiteralString

from pgassay.errors import SettingRejected
from pgassay.refusals.refusal import opened
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.memory_group import MemoryUse
from pgassay.server.owned.target import Directory, OwnedTarget
from pgassay.server.protocol import (
    NO_LEVELS,
    NOTHING,
    Connection,
    ConnectionParameters,
    Levels,
    ResetReport,
    SchemaVariant,
    ServerFacts,
    Testbed,
)
from pgassay.server.undo.undoing import undo_each

Key = tuple[str, str, str]
"""Server, data and arm of a testbed: variants of the schema are on the same server."""


def _key(testbed: Testbed) -> Key:
    return testbed.server, testbed.data, testbed.arm


class SeveralTargets:
    """The target of a run on several servers of pgassay's own: one for each version and dataset, or
    for each arm; the methods are those of `Target`."""

    def __init__(
        self,
        makers: Mapping[str, Callable[[], OwnedTarget]],
        kind: LiteralString,
        *,
        first: Testbed | None = None,
        side_by_side: bool = False,
    ) -> None:
        """`first` is opened first; `side_by_side` leaves servers up when another is chosen."""
        self.kind = kind
        self._makers = makers
        self._side_by_side = side_by_side
        self._made: dict[Key, OwnedTarget] = {}
        self._homes: dict[Key, Directory] = {}
        """Where each was opened."""
        self._running: OwnedTarget | None = None
        self._testbed = first or Testbed(next(iter(makers)))

    def open(self) -> ServerFacts:
        return self.choose(self._testbed)

    def choose(self, testbed: Testbed) -> ServerFacts:
        key = _key(testbed)
        if self._running is not None and self._running is not self._made.get(key):
            if not self._side_by_side:
                self._running.park()
            self._running = None
        self._testbed = testbed
        if key not in self._made:
            # Noted before it is opened: one that fails half-way is closed with the others.
            self._made[key] = self._makers[testbed.server]()
            self._made[key].open()
            self._homes[key] = self._made[key].directory
        self._running = self._made[key]
        return self._running.choose(testbed)

    def server_of(self, testbed: Testbed) -> OwnedTarget:
        """Returns the target of one testbed alone; a later `choose` does not change it."""
        self.choose(testbed)
        return self._chosen

    def exchange(self, takes: Mapping[Testbed, Testbed]) -> None:
        """Gives each server the directory in which that of another testbed was opened; every one of
        them is reset afterwards."""
        moves = [(self._made[_key(one)], self._homes[_key(home)]) for one, home in takes.items()]
        moving = [(server, home) for server, home in moves if server.directory != home]
        for server, _ in moving:
            server.vacate()
        for server, home in moving:
            server.occupy(home)

    def vary(self, variant: SchemaVariant) -> float | None:
        return self._chosen.vary(variant)

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        if not any(self._chosen.share(one, held, host) for one in self._beside()):
            self._chosen.prepare(build, held, host)

    def _beside(self) -> list[OwnedTarget]:
        """The servers that run beside the chosen one and have the same data."""
        alike = (one for (_, data, _), one in self._made.items() if data == self._testbed.data)
        return [one for one in alike if self._side_by_side and one is not self._running]

    def check_settings(self, settings: Mapping[str, str]) -> None:
        try:
            self._chosen.check_settings(settings)
        except SettingRejected as error:
            if len(self._makers) == 1:
                raise
            error.args = (f"on the server {self._testbed.server}: {error}",)
            raise

    def check_host(self, knobs: Mapping[str, str]) -> None:
        self._chosen.check_host(knobs)

    def reset(
        self,
        settings: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
        *,
        restart: bool | None = None,
    ) -> ResetReport:
        return self._chosen.reset(settings, host, restart=restart)

    def announce(self, settings: Levels, host: Levels = NO_LEVELS) -> None:
        self._chosen.announce(settings, host)

    def alternate(self, host: Mapping[str, str]) -> Mapping[str, str]:
        return self._chosen.alternate(host)

    def host(self) -> Host:
        return HERE

    def host_as_found(self) -> Mapping[str, str]:
        return self._chosen.host_as_found()

    def memory_use(self) -> MemoryUse | None:
        return self._chosen.memory_use()

    def parameters(self) -> ConnectionParameters:
        return self._chosen.parameters()

    def connect(self) -> Connection:
        return self._chosen.connect()

    def facts(self) -> ServerFacts:
        return self._chosen.facts()

    def compared(self) -> None:
        """Returns None: nothing is left of a server of pgassay's own."""

    def close(self) -> None:
        self._running = None
        undo_each(*(partial(self._close_one, key) for key in [*self._made]))

    def _close_one(self, key: Key) -> None:
        self._made[key].close()
        # One that could not be closed is kept for another attempt.
        del self._made[key]

    @property
    def _chosen(self) -> OwnedTarget:
        return opened(self._running)
