"""How far the clocks of generators are from ours.

Enters: generators. Leaves: one offset for each, with the bound of its error. Never: sets a clock.

One exchange reads our clock, theirs, and ours again: theirs was read somewhere between, so the
offset from the middle is wrong by at most half of the exchange (Cristian, Probabilistic clock
synchronization, 1989). Of several exchanges the fastest has the least error. A network that is
slower one way than back moves the middle, and never beyond that bound.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pgassay.trials.load.group import ClockOffset

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
