"""Simulations on several processors come back in the order they were asked for."""

from __future__ import annotations

import os

from bench.validate.parallel import spread


def test_what_costs_most_begins_first_and_results_keep_their_order() -> None:
    before = dict(os.environ)
    assert list(spread(abs, [-1, -3, -2], cost=abs)) == [1, 3, 2]
    assert dict(os.environ) == before
