"""Bands, crossings, knees and checkpoints hold their rates: the small form of `make validate`."""

from __future__ import annotations

import pytest
from bench.estimates import CASES, rows_of, unrelated

RUNS = 25
QUICK = [at for at, case in enumerate(CASES) if getattr(case, "func", None) is not unrelated]


@pytest.mark.parametrize("case", QUICK)
def test_rates_are_where_they_are_wanted(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # So few runs, and so many rows: only what is surely off.
    monkeypatch.setattr("bench.tables.CONFIDENCE", 0.9999)
    rows = rows_of((case, RUNS))
    assert rows
    assert [row for row in rows if "missed" in row[-1]] == []
