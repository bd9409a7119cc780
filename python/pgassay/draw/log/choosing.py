"""Which sequences of statements become scenarios, and which are lost.

Enters: sequences with their numbers and times. Leaves: those to be drawn, with their weights, and
the lost. Never: looks at a value.

Those with the largest share of the time or of the calls come first, until they have 98 % of both or
are as many as was asked for: what is cheap now may be what another setting makes slow. Of what is
left, those that differ from a drawn one only in how often they repeat a statement (loops,
lists of another length) are counted with it, by their number of statements, so that the calls of a
statement stay what they were. Where the limit left more than 2 %, statements of the rest are drawn
by themselves, as many again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from pgassay.draw.log.texts import Text

COVERED = 0.98
Shares = tuple[float, float]


@dataclass(slots=True)
class Transactions:
    """A sequence of statements, with how often clients sent it and for how long."""

    parts: list[tuple[int, int]]
    """Where its values lie: places in the native module's summary, each with the place of the first
    value there."""
    texts: Sequence[Text]
    explicit: bool
    rolled_back: bool
    transactions: float
    time_us: int
    done: Sequence[tuple[int, int]]
    """Of each statement its time in µs and how often it failed."""
    pauses_us: Sequence[Sequence[int]]
    is_single: bool = False
    """A statement out of transactions that no scenario has."""
    pooled: int = 0
    """How many others are counted with it."""
    logged: float = field(init=False)
    """Transactions without those of others."""

    def __post_init__(self) -> None:
        self.logged = self.transactions

    @property
    def shape(self) -> tuple[object, ...]:
        """Fingerprints in order without repetitions: equal where loops only differ in length."""
        prints = (text.fingerprint for text in self.texts)
        return (self.explicit, self.rolled_back, *(one for one, _ in groupby(prints)))

    def take(self, other: Transactions) -> None:
        """Counts the transactions of other ones as so many of these as have their statements."""
        self.transactions += other.transactions * len(other.texts) / len(self.texts)
        self.pooled += 1

    def add(self, other: Transactions, at: int, done: tuple[int, int]) -> None:
        """Counts a statement of another sequence, whose values begin at `at` there."""
        self.parts += ((number, at) for number, _ in other.parts)
        self.transactions += other.transactions
        self.logged = self.transactions
        ((time_us, failed),) = self.done
        self.done = [(time_us + done[0], failed + done[1])]
        self.time_us += done[0]


def sequence_of(number: int, scenario: dict[str, Any], texts: Sequence[Text]) -> Transactions:
    """Reads one entry of the native module's summary."""
    return Transactions(
        parts=[(number, 0)],
        texts=[texts[one] for one in scenario["statements"]],
        explicit=scenario["explicit"],
        rolled_back=scenario["rolled_back"],
        transactions=scenario["transactions"],
        # Of its statements alone: what a commit takes is no statement's.
        time_us=sum(one["time_us"] for one in scenario["done"]),
        done=[(one["time_us"], one["failed"]) for one in scenario["done"]],
        pauses_us=scenario["pauses_us"],
    )


def chosen(
    sequences: Iterable[Transactions], most: int, *, timed: bool
) -> tuple[list[Transactions], list[Transactions]]:
    """Returns the sequences to be drawn, those with the largest share of the time or of the calls
    first, and those that are lost; without `timed` the calls decide alone. Single statements of
    what is beyond `most` come last, at most as many again."""
    found = list(sequences)
    calls = sum(one.transactions * len(one.texts) for one in found)
    whole = (calls, sum(one.time_us for one in found) if timed else 0.0)
    drawn, rest, covered = _largest(found, most, whole, (0.0, 0.0))
    lost = list[Transactions]()
    by_shape = {one.shape: one for one in reversed(drawn)}
    for one in rest:
        alike = by_shape.get(one.shape)
        if alike is None:
            lost.append(one)
        else:
            alike.take(one)
    if len(drawn) < most or min(covered) >= COVERED:
        return drawn, lost
    usable, lost = _singles(lost)
    singles, rare, _ = _largest(usable, most, whole, covered)
    return [*drawn, *singles], [*lost, *rare]


def _largest(
    found: Sequence[Transactions], most: int, whole: tuple[float, float], covered: Shares
) -> tuple[list[Transactions], list[Transactions], Shares]:
    """The largest of these, at most so many and no more than it takes; the others; the shares of
    calls and of time that are covered then. `whole`: all calls and their time, 0 without times."""

    def shares(one: Transactions) -> Shares:
        calls = one.transactions * len(one.texts) / (whole[0] or 1.0)
        return calls, one.time_us / whole[1] if whole[1] else calls

    ranked = sorted(found, key=lambda one: -max(shares(one)))
    kept = 0
    while kept < min(most, len(ranked)) and (covered == (0.0, 0.0) or min(covered) < COVERED):
        calls, time = shares(ranked[kept])
        covered = (covered[0] + calls, covered[1] + time)
        kept += 1
    return ranked[:kept], ranked[kept:], covered


def _singles(
    sequences: Iterable[Transactions],
) -> tuple[list[Transactions], list[Transactions]]:
    """Each statement of these by itself, whatever transaction it was in; and what means nothing
    outside of its own, or was rolled back there."""
    found: dict[str, Transactions] = {}
    lost = list[Transactions]()
    for one in sequences:
        if one.rolled_back:
            lost.append(one)
            continue
        at = 0
        for text, done in zip(one.texts, one.done, strict=True):
            single = found.setdefault(
                text.text, Transactions([], [text], False, False, 0.0, 0, [(0, 0)], [], True)
            )
            single.add(one, at, done)
            at += text.values if text.data else 0
    lost += (one for one in found.values() if not one.texts[0].data)
    return [one for one in found.values() if one.texts[0].data], lost
