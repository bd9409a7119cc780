"""How far the clocks of generators are from ours.

Enters: generators. Leaves: one offset for each, with the bound of its error. Never: sets a clock.

One exchange reads our clock, theirs, and ours again: theirs was read somewhere between, so the
offset from the middle is wrong by at most half of the exchange (Cristian, Probabilistic clock
synchronization, 1989). Of several exchanges the fastest has the least error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

EXCHANGES = 7


@dataclass(frozen=True)
class ClockOffset:
    """Nanoseconds."""

    theirs_minus_ours_ns: int
    error_ns: int
    """The offset is wrong by at most this."""


def measured_offset(ours: Callable[[], int], theirs: Callable[[], int]) -> ClockOffset:
    """Of one generator, whose clock `theirs` asks for."""
    exchanges = []
    for _ in range(EXCHANGES):
        sent = ours()
        read = theirs()
        received = ours()
        exchanges.append((received - sent, read - (sent + received) // 2))
    took, offset = min(exchanges)
    return ClockOffset(offset, took // 2 + 1)
