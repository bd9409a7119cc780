"""One load generator: an engine, on the machine where this object lives.

Enters: a request, its share of the clients, a server. Leaves: progress while it runs, the engine's
report at the end. Never: knows of other generators. Its methods are called on this machine or, of
an actor, on a node of a Ray cluster, where arguments and results hold no password.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any

from pgassay import _core
from pgassay.refusals.refusal import TrialRefused
from pgassay.server.connection.session import resolve
from pgassay.server.hosts.placement import Place
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.workload.parameters import ParameterFile
from pgassay.trials.load.engine import LAST_S, LoadRequest, open_load, start_in

FORSAKEN_S = 12.0
"""A generator that is not asked for its progress for so long ends its load: the run has given it
up, or is gone, and its load would fall into the next trial. A lost one is given up after 10 s."""
_LOOK_S = 1.0
OF_THE_SESSION = ("dbname", "options", "startup", "client_encoding", "sslmode")


@dataclass(frozen=True)
class ServerByName:
    """A server that a node finds by itself: libpq reads its password file and environment there."""

    dsn: str
    session: Mapping[str, Any]
    """What makes the sessions those of the run: the fields `OF_THE_SESSION`."""

    def parameters(self) -> ConnectionParameters:
        """Raises ConnectionRefused where this machine cannot reach it."""
        return replace(resolve(self.dsn), **self.session)


class LoadGenerator:
    """Runs its share of one load after the other."""

    def __init__(self) -> None:
        self.load: _core.Load | None = None
        self._asked_s = 0.0
        self._forsaken = False

    def now_ns(self) -> int:
        """Returns the time of this machine's clock in nanoseconds, by which it will start and
        stop."""
        return _core.now_ns()

    def lacking(self, files: Sequence[ParameterFile]) -> list[str]:
        """Returns the hashes of those files of parameters whose content must come with a load."""
        from pgassay.trials.load.parameters import lacking  # pyarrow, for these alone

        return lacking(files)

    def open(
        self,
        request: LoadRequest,
        server: ServerByName | ConnectionParameters,
        tell: Callable[[int, float], None] | None = None,
    ) -> list[int]:
        """Opens the connections of its share of a load; returns the process ids of their sessions
        on the server.

        Raises ConnectionRefused, SpecError.
        """
        parameters = server.parameters() if isinstance(server, ServerByName) else server
        self.load = None  # its threads and memory go before others come
        self.load = open_load(request, parameters, tell)
        return self.load.backends()

    def start(self, at_ns: int | None, place: Place | None) -> dict[str, str]:
        """Starts the load at a time of this machine's clock, at once where it is None; where the
        threads run, if a place was asked for."""
        load = self._opened()
        self._asked_s, self._forsaken = time.monotonic(), False
        placed = start_in(load, place, at_ns)
        if at_ns is not None:
            Thread(target=self._end_if_forsaken, args=(load,), daemon=True).start()
        return placed

    def _end_if_forsaken(self, load: _core.Load) -> None:
        with suppress(_core.CoreError):  # it failed, which its report says
            while not load.wait(_LOOK_S):
                if time.monotonic() - self._asked_s > FORSAKEN_S:
                    self._forsaken = True
                    load.stop()
                    return

    def progress(self, timeout_s: float = 0.0) -> dict[str, Any]:
        """Returns the engine's totals so far, and whether it has `ended` within that time.

        Raises TrialError where it was not asked for too long.
        """
        self._asked_s = time.monotonic()
        if self._forsaken:
            raise TrialRefused("generator-forsaken", seconds=FORSAKEN_S)
        load = self._opened()
        ended = load.wait(timeout_s)
        return {**json.loads(load.progress()), "ended": ended}

    def stop(self) -> None:
        """Asks for an early end of the load, wait until transactions in flight are finished or cut,
        and close the connections."""
        if self.load is not None:
            self.load.stop()
            with suppress(_core.CoreError):  # it was not started
                self.load.wait(LAST_S)
            self.load = None

    def report(self) -> tuple[int, bytes]:
        """Returns when the load began by this machine's clock, and what the engine counted; may be
        called once.

        Raises TrialError where the engine failed.
        """
        load, self.load = self._opened(), None  # what it counted need not be kept twice
        try:
            return load.started_ns() or 0, load.report()
        except _core.CoreError as error:
            raise TrialRefused("load-failed", why=error) from None

    def _opened(self) -> _core.Load:
        if self.load is None:
            raise TrialRefused("not-prepared", step="start")
        return self.load
