"""The orders in which the arms of a block run: random, and balanced over groups of blocks.

Enters: arms, a number of blocks, a seeded generator. Leaves: an order for each block; in a duet a
directory for each arm's server.
Never: reads a clock; the same seed gives the same orders on every machine.

A group is the rows of cyclic Latin squares, with the arms in random places, and the same rows
backwards, all of them shuffled: after a group every arm has run as often at every position. Orders
that follow a pattern, such as every second one backwards, favour one arm wherever the host is
disturbed in the same rhythm; shuffled ones do not (docs/methods/verdicts.md, "Design").
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

FEWEST_ORDERS = 12
"""Of a group. In a smaller one the first half foretells the second; in a larger one positions are
unbalanced for longer, which costs blocks."""
SEPARATED_BY = 4
"""Blocks that must tell the effects of arms from those of positions; from this number on the
analysis separates them (analysis/compare/blocks/positions.py)."""


def balanced_orders(items: Sequence[T], blocks: int, source: random.Random) -> list[list[T]]:
    """Draws an order of all items for each block."""
    places = _orders(len(items), min(blocks, SEPARATED_BY), source)
    return [[items[at] for at in order] for order in islice(places, blocks)]


def plot_orders(
    plots: Sequence[Sequence[T]], blocks: int, source: random.Random
) -> list[list[list[T]]]:
    """Draws an order of whole plots, and of the items in each, for each block of a split plot."""
    of_plots = balanced_orders(range(len(plots)), blocks, source)
    inside = [balanced_orders(plot, blocks, source) for plot in plots]
    return [[inside[at][block] for at in order] for block, order in enumerate(of_plots)]


def directories(arms: Sequence[str], blocks: int, source: random.Random) -> list[dict[str, int]]:
    """Draws, for each block of a duet, the number of the data directory that the server of each arm
    uses.

    In as many blocks as arms every arm is once in every directory. The next as many come backwards,
    so that each arm meets each directory with both lengths of slices, which alternate by block.
    """
    found: list[dict[str, int]] = []
    while len(found) < blocks:
        numbers = permuted(range(1, len(arms) + 1), source)
        rows = permuted(range(len(arms)), source)
        blocks_of_round = [
            dict(zip(arms, numbers[row:] + numbers[:row], strict=True)) for row in rows
        ]
        found += blocks_of_round + blocks_of_round[::-1]
    return found[:blocks]


def permuted(items: Sequence[T], source: random.Random) -> list[T]:
    """Returns the items in a random order."""
    # Python promises the same numbers in every version for random(), not for shuffle().
    drawn = sorted((source.random(), at) for at in range(len(items)))
    return [items[at] for _, at in drawn]


def _orders(count: int, first: int, source: random.Random) -> Iterator[list[int]]:
    """Group after group; the first of them is drawn until its `first` blocks separate positions."""
    group = _group(count, source)
    while first > 1 and not _separate_positions(group[:first]):
        group = _group(count, source)
    while True:
        yield from group
        group = _group(count, source)


def _group(count: int, source: random.Random) -> list[list[int]]:
    found: list[list[int]] = []
    while len(found) < FEWEST_ORDERS:
        places = permuted(range(count), source)
        rows = [places[row:] + places[:row] for row in range(count)]
        found += rows + [row[::-1] for row in rows]
    return permuted(found, source)


def _separate_positions(orders: Sequence[Sequence[int]]) -> bool:
    """Whether arms connect all positions: then no effect of positions looks like one of arms."""
    reached, new = set[int](), {0}
    while new:
        reached |= new
        arms = {order[place] for order in orders for place in new}
        new = {order.index(arm) for order in orders for arm in arms} - reached
    return len(reached) == len(orders[0])
