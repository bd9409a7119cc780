"""The server's clock compared with the clock of this machine.

Enters: a function that opens sessions of the server. Leaves: the server's times on our axis, and
their uncertainty. Never: makes a run fail.

A reading is one round trip: the server looked at its clock at some moment between our question and
its answer, so half of the round trip bounds the error, whatever the network does on either way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import psycopg

from pgassay import _core
from pgassay.errors import TargetError
from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

ROUND_TRIPS = 9
"""The first ones pay for caches; a hold-up on either side costs all but one their worth."""
_DRIFT_REPORTED_NS = 5_000_000


@dataclass(frozen=True)
class ClockReading:
    """The offset of the server's clock by the shortest of some round trips."""

    at_ns: int
    """On our axis, the middle of the round trip."""
    offset_ns: int
    """What the server's clock is ahead of ours."""
    uncertainty_ns: int
    """Half of the round trip: the offset is off by no more."""


class ServerClock:
    """The server's clock compared with this machine's, by several readings in the order of their
    times."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._readings: list[ClockReading] = []

    def read(self) -> bool:
        """Takes one more reading; returns false where the server does not answer."""
        try:
            with self._connect() as session:
                self.add(read_clock(session))
        except (psycopg.Error, TargetError):
            return False
        return True

    def add(self, reading: ClockReading) -> None:
        """Adds a reading that was taken elsewhere. Only the first and the last two are needed."""
        self._readings.append(reading)
        if len(self._readings) > 3:
            del self._readings[1]

    @property
    def is_ours(self) -> bool:
        """Whether both clocks agree within the uncertainty: then times are not shifted."""
        return all(abs(r.offset_ns) <= r.uncertainty_ns for r in self._readings)

    def offset_ns(self, server_ns: int) -> int:
        """Returns how far the server's clock was ahead when it showed a time, in nanoseconds;
        between two readings by linear interpolation."""
        if self.is_ours:
            return 0
        for before, after in pairwise(self._readings):
            ours = server_ns - before.offset_ns
            if ours <= after.at_ns:
                into = max(ours - before.at_ns, 0) / max(after.at_ns - before.at_ns, 1)
                return before.offset_ns + round((after.offset_ns - before.offset_ns) * into)
        return self._readings[-1].offset_ns

    def ours_ns(self, server_ns: int) -> int:
        """Converts a time of the server's clock to this machine's, in nanoseconds."""
        return server_ns - self.offset_ns(server_ns)

    @property
    def drift_ns(self) -> int:
        """Returns how much further ahead the server's clock is at the last reading than at the
        first, in nanoseconds."""
        if not self._readings:
            return 0
        return self._readings[-1].offset_ns - self._readings[0].offset_ns

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note where the clocks drifted apart; else none."""
        sure = sum(r.uncertainty_ns for r in (self._readings[:1] + self._readings[-1:]))
        if abs(self.drift_ns) <= max(_DRIFT_REPORTED_NS, sure):
            return ()
        return (Note("trials/server_log/drifted", {"drift_ms": self.drift_ns / 1e6}),)

    def described(self) -> dict[str, Any]:
        """Returns the `clock` object of trial.json; empty where no reading was possible."""
        if not self._readings:
            return {}
        first, last = self._readings[0], self._readings[-1]
        return {
            "offset_ms": _ms(first.offset_ns),
            "offset_at_end_ms": _ms(last.offset_ns),
            "drift_ms": _ms(self.drift_ns),
            "uncertainty_ms": _ms(max(first.uncertainty_ns, last.uncertainty_ns)),
            "applied": not self.is_ours,
        }


def read_clock(session: Connection) -> ClockReading:
    """Reads the server's clock by the quickest of some answers."""
    found = []
    for _ in range(ROUND_TRIPS):
        began = _core.now_ns()
        row = session.execute(statement("log/clock"), prepare=False).fetchone()
        ended = _core.now_ns()
        if row is None:
            raise TargetRefused("no-row", doing="reading the server's clock")
        middle = (began + ended) // 2
        # Rounded up, and the server's clock shows microseconds.
        uncertainty = (ended - began + 1) // 2 + 1000
        found.append(ClockReading(middle, row[0] - middle, uncertainty))
    return min(found, key=lambda reading: reading.uncertainty_ns)


def _ms(nanoseconds: int) -> float:
    return round(nanoseconds / 1e6, 3)
