"""Which sequences of statements become scenarios, and which are lost.

Enters: sequences with their numbers and times. Leaves: those to be drawn, with their weights, and
the lost. Never: looks at a value.

Those with the largest share of the time or of the calls come first, until they have 98 % of both or
are as many as was asked for: what is cheap now may be what another setting makes slow. Of what is
left, those that differ from a drawn one only in how often they repeat a statement (loops,
lists of another length) are counted with it, by their number of statements, so that the calls of a
statement stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pgassay.draw.log.texts import Text

COVERED = 0.98


@dataclass(slots=True)
class Transactions:
    """A sequence of statements, with how often clients sent it and for how long."""

    number: int
    """Its place in the native module's summary."""
    texts: Sequence[Text]
    explicit: bool
    rolled_back: bool
    transactions: float
    time_us: int
    done: Sequence[tuple[int, int]]
    """Of each statement its time in µs and how often it failed."""
    pauses_us: Sequence[Sequence[int]]
    pooled: int = 0
    """How many others are counted with it."""

    @property
    def shape(self) -> tuple[object, ...]:
        """Fingerprints in order without repetitions: equal where loops only differ in length."""
        prints = (text.fingerprint for text in self.texts)
        return (self.explicit, self.rolled_back, *(one for one, _ in groupby(prints)))

    def take(self, other: Transactions) -> None:
        """Counts the transactions of other ones as so many of these as have their statements."""
        self.transactions += other.transactions * len(other.texts) / len(self.texts)
        self.pooled += 1


def sequence_of(number: int, scenario: dict[str, Any], texts: Sequence[Text]) -> Transactions:
    """Reads one entry of the native module's summary."""
    return Transactions(
        number=number,
        texts=[texts[one] for one in scenario["statements"]],
        explicit=scenario["explicit"],
        rolled_back=scenario["rolled_back"],
        transactions=scenario["transactions"],
        time_us=scenario["time_us"],
        done=[(one["time_us"], one["failed"]) for one in scenario["done"]],
        pauses_us=scenario["pauses_us"],
    )


def chosen(
    sequences: Iterable[Transactions], most: int, *, timed: bool
) -> tuple[list[Transactions], list[Transactions]]:
    """Returns the sequences to be drawn, those with the largest share of the time or of the calls
    first, and those that are lost; without `timed` the calls decide alone."""
    found = list(sequences)
    calls = _shares([one.transactions * len(one.texts) for one in found])
    times = _shares([one.time_us for one in found]) if timed else calls
    ranked = sorted(zip(found, calls, times, strict=True), key=lambda one: -max(one[1:]))
    kept, of_calls, of_time = 0, 0.0, 0.0
    while kept < min(most, len(ranked)) and (not kept or min(of_calls, of_time) < COVERED):
        of_calls += ranked[kept][1]
        of_time += ranked[kept][2]
        kept += 1
    drawn, lost = [one for one, _, _ in ranked[:kept]], list[Transactions]()
    by_shape = {one.shape: one for one in reversed(drawn)}
    for one, _, _ in ranked[kept:]:
        alike = by_shape.get(one.shape)
        if alike is None:
            lost.append(one)
        else:
            alike.take(one)
    return drawn, lost


def _shares(costs: Sequence[float]) -> list[float]:
    whole = sum(costs) or 1.0
    return [cost / whole for cost in costs]
