"""Factors without effect are not called to have one: the small form of `make validate`."""

from __future__ import annotations

import pytest
from bench.validate.whole_trials.factorial_errors import (
    ALPHA,
    DESIGNS,
    KINDS,
    NAIVE,
    Design,
    simulate,
)
from scipy import stats

pytestmark = pytest.mark.slow

RUNS = 80
SMALL = [design for design in DESIGNS if design.least == design.most == 8]


@pytest.mark.parametrize(
    "design",
    [SMALL[0], *(pytest.param(design, marks=pytest.mark.heavy) for design in SMALL[1:])],
    ids=lambda design: design.name,
)
def test_no_kind_of_estimate_is_wrong_more_often_than_it_says(design: Design) -> None:
    found = simulate(design, "normal", RUNS)
    # Seeded, so the same every time; the bound is what one honest run in ten thousand passes.
    bound = stats.binom.ppf(1 - 1e-4, RUNS, ALPHA)
    assert {kind: hits for kind, (hits, _) in found.items() if kind in KINDS and hits > bound} == {}


def test_an_analysis_that_takes_trials_as_independent_is_wrong_often() -> None:
    hits, runs = simulate(SMALL[1], "normal", RUNS)[NAIVE]
    assert hits > 0.15 * runs
