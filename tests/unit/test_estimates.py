"""Bands, crossings, knees and checkpoints hold their rates: the small form of `make validate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from bench.estimates import Row, bands, checkpoints, crossings, dip_times, knees

RUNS = 25


@pytest.mark.parametrize("part", [bands, checkpoints, crossings, dip_times, knees])
def test_rates_are_where_they_are_wanted(
    part: Callable[[int], Iterable[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few runs, and so many rows: only what is surely off.
    monkeypatch.setattr("bench.tables.CONFIDENCE", 0.9999)
    rows = list(part(RUNS))
    assert rows
    assert [row for row in rows if "missed" in row[-1]] == []
