"""A trace replayed as the load of a trial.

Enters: a trace, its speed, a connection. Leaves: a result and interval rows like those of the
engine's other loads, with a `replay` object. Never: leaves a replay running, whatever interrupts
it, or stores a text or a value of the trace.

Every statement of the trace counts as a transaction of the result, so that the times are those of
statements; `replay.transactions` counts commits and statements outside of transactions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

from pgassay import _core
from pgassay.refusals.refusal import NotConnected, Refusal, TrialRefused
from pgassay.server.hosts.placement import Place
from pgassay.server.protocol import LOAD_NAME, ConnectionParameters
from pgassay.spec.load.trace_file import Trace
from pgassay.trials.load.engine import LAST_S, start_in
from pgassay.trials.load.trace_rows import MOST_NUMBERS, StatementNumbers, chunks
from pgassay.trials.model.record import Columns

BACKEND = "replay"
_POLL_S = 0.2
_MOST_STATEMENTS = 100
"""Statements with figures of their own in a result: those that took most time."""


@dataclass(frozen=True)
class ReplayRequest:
    """A replay for the engine."""

    trace: Trace
    speed: float | None
    """Times as fast as at the source; None for no pauses."""
    interval_s: float = 1.0
    limit_s: float = 3600.0
    """How long after its planned end it is stopped."""
    busy_poll_s: float | None = None

    @property
    def rate(self) -> float | None:
        """Statements per second; None at full speed."""
        return None if self.speed is None else self.trace.facts.rate * self.speed

    def settings(self, connection: ConnectionParameters) -> str:
        """Returns the settings that the engine reads, as JSON."""
        facts = self.trace.facts
        planned_s = 0.0 if self.speed is None else facts.seconds / self.speed
        in_utf8 = replace(connection, client_encoding="UTF8")  # as the trace
        return json.dumps(
            {
                "connection": in_utf8.for_load(),
                "application_name": LOAD_NAME,
                "speed": self.speed,
                "sessions": facts.at_once,
                "rate": self.rate,
                "statements": MOST_NUMBERS,
                "interval_s": self.interval_s,
                "limit_s": planned_s + self.limit_s,
                "busy_poll_us": round((self.busy_poll_s or 0.0) * 1e6),
            }
        )


class ReplayLoad:
    """The load of one trial, made by replaying a trace."""

    native: _core.Load | None = None
    backends: frozenset[int] = frozenset()
    leading_bits: int | None = _core.LEADING_BITS
    kept: tuple[Path, ...] = ()

    def __init__(
        self, request: ReplayRequest, connection: ConnectionParameters, place: Place | None = None
    ) -> None:
        """Raises ConnectionRefused, SpecError."""
        self._request, self._place = request, place
        self.placed: Mapping[str, str] = {}
        self._numbers = StatementNumbers()
        self._problem: Exception | None = None
        try:
            self._replay = _core.Replay(request.settings(connection))
            self._replay.connect()
        except _core.ConnectionFailed as error:
            raise NotConnected("not-connected", sqlstate=error.sqlstate, why=error) from None
        except _core.ConfigurationError as error:
            raise Refusal("load-not-possible", why=str(error)) from None

    def run(
        self,
        watch: Callable[[Mapping[str, Any]], None],
        own_transactions: Callable[[], int] = lambda: 0,
    ) -> dict[str, Any]:
        """Runs the replay to its end; `watch` gets the progress a few times a second."""
        replay = self._replay
        reader = Thread(target=self._read, name="pgassay-trace", daemon=True)
        try:
            reader.start()
            self.placed = start_in(replay, self._place, None)
            while not replay.wait(_POLL_S):
                watch(json.loads(replay.progress()))
        finally:
            replay.stop()
            replay.wait(LAST_S)
            reader.join(LAST_S)
        if self._problem is not None:
            raise self._problem
        return self._result()

    def intervals(self) -> Columns:
        """Returns the columns of `Load.intervals`."""
        return self._replay.intervals()

    def stored(self) -> dict[str, Any]:
        """Returns nothing: a `TrialRecord` has nothing of this load alone."""
        return {}

    def _read(self) -> None:
        """Hands the trace to the engine, as fast as that takes it."""
        try:
            for rows in chunks(self._request.trace, self._numbers):
                if not self._replay.feed(rows):
                    return
        except Exception as error:
            self._problem = error
            self._replay.stop()
        finally:
            self._replay.end_of_trace()

    def _result(self) -> dict[str, Any]:
        try:
            result: dict[str, Any] = json.loads(self._replay.result())
            figures: dict[str, Any] = json.loads(self._replay.figures())
        except _core.CoreError as error:
            raise TrialRefused("load-failed", why=error) from None
        result.pop("generators", None)
        for step in result["steps"]:
            if self._request.rate is not None:
                step.setdefault("rate", self._request.rate)
        statements = self._statements(figures.pop("statements"))
        asked = {"speed": self._request.speed or "max", **asdict(self._request.trace.facts)}
        return {**result, "replay": {"trace": asked, **figures, "statements": statements}}

    def _statements(self, counted: list[dict[str, int]]) -> list[dict[str, Any]]:
        """Those that took most time, by number and first word."""
        order = sorted(range(len(counted)), key=lambda n: counted[n]["sum_ns"], reverse=True)
        return [
            _of_statement(number, self._numbers.words[number], counted[number])
            for number in order[:_MOST_STATEMENTS]
            if counted[number]["count"]
        ]


def _of_statement(number: int, word: str, counted: Mapping[str, int]) -> dict[str, Any]:
    done = counted["count"] - counted["failed"]
    return {
        "number": number,
        "word": word,
        "count": counted["count"],
        "failed": counted["failed"],
        "mean_ms": counted["sum_ns"] / done / 1e6 if done else None,
    }
