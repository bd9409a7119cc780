"""The orders in which the arms of a block run: random, and balanced over blocks.

Enters: arms, a number of blocks, a seeded generator. Leaves: an order for each block; in a duet a
directory for each arm's server.
Never: reads a clock; the same seed gives the same orders on every machine.

Every second block runs the order of the block before backwards, so a steady drift cancels in each
pair. With three arms or more the pairs are rows of a cyclic Latin square with the arms in random
places, so after as many pairs as arms every arm has run twice at every position. Rows, places and
which of a pair comes first are drawn, so a block's order cannot be known from the host's side.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def balanced_orders(items: Sequence[T], blocks: int, source: random.Random) -> list[list[T]]:
    """An order of all items for each block."""
    return list(islice(_orders(items, source), blocks))


def plot_orders(
    plots: Sequence[Sequence[T]], blocks: int, source: random.Random
) -> list[list[list[T]]]:
    """An order of whole plots, and of the items in each, for each block of a split plot."""
    found: list[list[list[T]]] = []
    for block in range(blocks):
        if block % 2:
            found.append([plot[::-1] for plot in reversed(found[-1])])
        else:
            found.append([permuted(plot, source) for plot in permuted(plots, source)])
    return found


def directories(arms: Sequence[str], blocks: int, source: random.Random) -> list[dict[str, int]]:
    """Arm → number of the data directory that its server runs in, for each block of a duet.

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
    """A random permutation."""
    # Python promises the same numbers in every version for random(), not for shuffle().
    drawn = sorted((source.random(), at) for at in range(len(items)))
    return [items[at] for _, at in drawn]


def _orders(items: Sequence[T], source: random.Random) -> Iterator[list[T]]:
    while True:
        places = permuted(items, source)
        for row in permuted(range(len(items)), source):
            order = places[row:] + places[:row]
            pair = [order, order[::-1]]
            yield from permuted(pair, source)
