"""Orders of arms are random, and balanced over groups of blocks."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from pgassay.analysis.compare.blocks.contrasts import BlockTable
from pgassay.analysis.compare.blocks.positions import FEWEST_BLOCKS, without_positions
from pgassay.analysis.compare.simulated_runs import _first_arms
from pgassay.plan.orders import balanced_orders, plot_orders


@pytest.mark.parametrize(("arms", "group"), [(2, 12), (3, 12), (4, 16), (6, 12)])
def test_after_each_group_every_arm_has_run_as_often_at_every_position(
    arms: int, group: int
) -> None:
    orders = balanced_orders(range(arms), 2 * group, random.Random(2))
    assert all(sorted(order) == list(range(arms)) for order in orders)
    for half in (orders[:group], orders[group:]):
        places = Counter((arm, place) for order in half for place, arm in enumerate(order))
        assert set(places.values()) == {group // arms}
        assert len(places) == arms**2


def test_all_orders_of_a_first_block_are_equally_likely() -> None:
    source = random.Random(3)
    found = Counter(tuple(balanced_orders(range(3), 1, source)[0]) for _ in range(6000))
    assert len(found) == 6
    assert all(900 < count < 1100 for count in found.values())


@pytest.mark.parametrize("arms", [2, 3, 4, 5, 8])
def test_the_order_of_no_block_foretells_that_of_another(arms: int) -> None:
    """A pattern, such as every second order backwards, favours an arm under a periodic load."""
    runs = [balanced_orders(range(arms), 8, random.Random(seed)) for seed in range(2000)]
    for one, other in combinations(range(8), 2):
        agree = [run[one].index(0) < run[one].index(1) for run in runs]
        also = [run[other].index(0) < run[other].index(1) for run in runs]
        same = float(np.mean(np.equal(agree, also)))
        # Fair coins agree in a half; of the other orders of a group a little less than half agree.
        assert 0.38 < same < 0.54, (one, other)


@pytest.mark.parametrize("arms", [2, 3, 4, 5, 6, 8])
def test_the_first_blocks_separate_arms_from_positions(arms: int) -> None:
    for seed in range(300):
        orders = balanced_orders(range(arms), FEWEST_BLOCKS, random.Random(seed))
        positions = np.array([[order.index(arm) + 1 for arm in range(arms)] for order in orders])
        drifting = BlockTable(tuple(range(FEWEST_BLOCKS)), 0.1 * positions, positions=positions)
        found = without_positions(drifting)
        assert found.fit is not None
        assert np.ptp(found.table.values) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("blocks", [2, 3])
def test_two_arms_have_both_orders_in_however_few_blocks(blocks: int) -> None:
    for seed in range(50):
        orders = balanced_orders("ab", blocks, random.Random(seed))
        assert len({tuple(order) for order in orders}) == 2


def test_whole_plots_and_the_arms_in_each_are_balanced_independently() -> None:
    orders = plot_orders([[1, 2], [3, 4]], 12, random.Random(4))
    assert all(sorted(map(sorted, order)) == [[1, 2], [3, 4]] for order in orders)
    plots = Counter(min(order[0]) for order in orders)
    inside = Counter(tuple(plot) for order in orders for plot in order)
    assert plots == {1: 6, 3: 6}
    assert inside == {(1, 2): 6, (2, 1): 6, (3, 4): 6, (4, 3): 6}
    together = {(min(order[0]), *(plot[0] < plot[1] for plot in sorted(order))) for order in orders}
    assert len(together) > 4


def test_forecasts_draw_the_orders_of_two_arms_by_the_same_law() -> None:
    drawn = [balanced_orders((1.0, -1.0), 24, random.Random(seed)) for seed in range(3000)]
    ours, theirs = _first_arms(3000, 24), np.array([[a for a, _ in orders] for orders in drawn])
    for blocks in range(1, 25):
        # The variance of how much more often one order was run: 4 standard errors apart at most.
        variances = [(one[:, :blocks].sum(axis=1) ** 2).mean() for one in (ours, theirs)]
        assert variances[0] == pytest.approx(variances[1], abs=0.03 + 0.15 * variances[1])
    assert len(np.unique(ours[:, :4], axis=0)) == 14
