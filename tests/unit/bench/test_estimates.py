"""Bands, crossings, knees and checkpoints hold their rates: the small form of `make validate`.

One case of each kind runs in `make test`, the others in `make test-all`;
docs/measured/validation-estimates.md has the rates of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from bench.validate.within_trials.estimates import CASES, rows_of, unrelated

pytestmark = pytest.mark.slow

RUNS = 25


def kind_of(case: object) -> tuple[object, ...]:
    """The simulated quantity, and in which design."""
    settings = getattr(case, "keywords", {})
    return getattr(case, "func", case), settings.get("mode"), settings.get("arms")


def cases() -> Sequence[object]:
    kinds: set[tuple[object, ...]] = set()
    found = []
    for at, case in enumerate(CASES):
        kind = kind_of(case)
        if kind[0] is unrelated:
            continue
        found.append(pytest.param(at, marks=[pytest.mark.heavy] if kind in kinds else []))
        kinds.add(kind)
    return found


@pytest.mark.parametrize("case", cases())
def test_error_rates_are_as_stated(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Few runs and many rows: only rates that are surely off are reported.
    monkeypatch.setattr("bench.tables.CONFIDENCE", 0.9999)
    rows = rows_of((case, RUNS))
    assert rows
    assert [row for row in rows if "missed" in row[-1]] == []
