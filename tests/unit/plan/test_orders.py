"""Orders of arms are random, and balanced over blocks."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pgassay.plan.orders import balanced_orders, plot_orders


@pytest.mark.parametrize("arms", [2, 3, 4, 5])
def test_every_second_block_is_the_one_before_backwards(arms: int) -> None:
    orders = balanced_orders(range(arms), 24, random.Random(1))
    assert all(b == a[::-1] for a, b in zip(orders[::2], orders[1::2], strict=True))
    assert all(sorted(order) == list(range(arms)) for order in orders)


@pytest.mark.parametrize("arms", [2, 3, 4, 5])
def test_after_as_many_pairs_as_arms_every_arm_has_run_twice_at_every_position(arms: int) -> None:
    orders = balanced_orders(range(arms), 2 * arms, random.Random(2))
    places = Counter((arm, place) for order in orders for place, arm in enumerate(order))
    assert set(places.values()) == {2}
    assert len(places) == arms**2


def test_all_orders_of_a_first_block_are_equally_likely() -> None:
    source = random.Random(3)
    found = Counter(tuple(balanced_orders(range(3), 1, source)[0]) for _ in range(6000))
    assert len(found) == 6
    assert all(900 < count < 1100 for count in found.values())


def test_whole_plots_are_mirrored_too() -> None:
    orders = plot_orders([[1, 2], [3, 4]], 4, random.Random(4))
    flat = [[item for plot in order for item in plot] for order in orders]
    assert flat[1] == flat[0][::-1]
    assert flat[3] == flat[2][::-1]
    assert all(sorted(map(sorted, order)) == [[1, 2], [3, 4]] for order in orders)
