"""Servers of our own: one per version or build and per set of data, or one per arm.

Enters: for each server's name, how to make it. Leaves: one `Target` that is, from one `choose` to
the next, the server turned to. Never: lets two of them run at the same time, unless it was made
for servers that run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import LiteralString

from pgassay.errors import SettingRejected, TargetError
from pgassay.target.host import Host
from pgassay.target.local import LocalTarget
from pgassay.target.local_host import HERE
from pgassay.target.protocol import (
    NOTHING,
    Connection,
    ConnectionParameters,
    Ground,
    ResetReport,
    SchemaVariant,
    ServerFacts,
)
from pgassay.target.undoing import undo_each


class SeveralTargets:
    """As many owned servers as an experiment has versions times sets of data, or arms."""

    def __init__(
        self,
        makers: Mapping[str, Callable[[], LocalTarget]],
        kind: LiteralString,
        *,
        first: Ground | None = None,
        side_by_side: bool = False,
    ) -> None:
        """`first` is what is opened first; `side_by_side` leaves servers up when another is turned
        to."""
        self.kind = kind
        self._makers = makers
        self._side_by_side = side_by_side
        self._made: dict[tuple[str, str, str], LocalTarget] = {}
        self._running: LocalTarget | None = None
        self._ground = first or Ground(next(iter(makers)))

    def open(self) -> ServerFacts:
        return self.choose(self._ground)

    def choose(self, ground: Ground) -> ServerFacts:
        key = (ground.server, ground.data, ground.arm)
        if self._running is not None and self._running is not self._made.get(key):
            if not self._side_by_side:
                self._running.park()
            self._running = None
        self._ground = ground
        if key not in self._made:
            # Known before it is opened: what fails half-way is closed with the others.
            self._made[key] = self._makers[ground.server]()
            self._made[key].open()
        self._running = self._made[key]
        return self._running.choose(ground)

    def standing_on(self, ground: Ground) -> LocalTarget:
        """The server of a ground by itself, whatever is turned to afterwards."""
        self.choose(ground)
        return self._chosen

    def vary(self, variant: SchemaVariant) -> None:
        self._chosen.vary(variant)

    def prepare(
        self,
        build: Callable[[Connection], None],
        held: Mapping[str, str],
        host: Mapping[str, str] = NOTHING,
    ) -> None:
        self._chosen.prepare(build, held, host)

    def check_settings(self, settings: Mapping[str, str]) -> None:
        try:
            self._chosen.check_settings(settings)
        except SettingRejected as error:
            if len(self._makers) == 1:
                raise
            raise SettingRejected(
                error.setting, f"on the server {self._ground.server}: {error}"
            ) from error

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

    def announce(self, settings: Mapping[str, Sequence[str]]) -> None:
        self._chosen.announce(settings)

    def host(self) -> Host:
        return HERE

    def host_as_found(self) -> Mapping[str, str]:
        return self._chosen.host_as_found()

    def parameters(self) -> ConnectionParameters:
        return self._chosen.parameters()

    def connect(self) -> Connection:
        return self._chosen.connect()

    def facts(self) -> ServerFacts:
        return self._chosen.facts()

    def close(self) -> None:
        self._running = None
        undo_each(*(partial(self._close_one, key) for key in [*self._made]))

    def _close_one(self, key: tuple[str, str, str]) -> None:
        self._made[key].close()
        # What could not be closed is there for another attempt.
        del self._made[key]

    @property
    def _chosen(self) -> LocalTarget:
        if self._running is None:
            raise TargetError("the target is not open; call open first")
        return self._running
