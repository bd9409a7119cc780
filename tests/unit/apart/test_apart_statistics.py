"""Runs made apart: a shift between them is no difference, and repeated runs are the unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pgassay.analysis.apart.compare import Question, compare_runs
from pgassay.analysis.apart.model import RunDifference, SpreadSource
from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.gates.grammar import parse_gates
from support.synthetic.apart import sides_of

MANY = 400


def only(*effects: float, question: Question | None = None, **how: Any) -> RunDifference:
    (found,) = compare_runs(sides_of(*effects, **how), question or Question()).verdicts()
    return found


def called_different(**how: Any) -> tuple[float, float]:
    """Shares of identical pairs: by the verdict, and by trials inside runs alone."""
    verdicts = inside = 0
    for seed in range(MANY):
        found = only(0.0, 0.0, seed=seed, **how)
        verdicts += found.comparison.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
        assert found.within is not None
        inside += found.within[0] > 0.0 or found.within[1] < 0.0
    return verdicts / MANY, inside / MANY


def test_identical_runs_with_a_shift_between_them_are_not_called_different() -> None:
    verdicts, inside = called_different(run_sd=0.03, noise=0.01)
    assert inside > 0.5, "the spread of trials would call most of them different"
    assert verdicts <= 0.05


def test_repeated_runs_are_the_unit_and_keep_the_error_at_5_percent() -> None:
    # A spread between runs that is larger than what would be assumed.
    verdicts, inside = called_different(runs=4, run_sd=0.12, noise=0.01)
    assert inside > 0.7
    assert 0.02 <= verdicts <= 0.08
    found = only(0.0, 0.0, runs=4, run_sd=0.12)
    assert found.spread is not None
    assert (found.spread.source, found.spread.degrees) == (SpreadSource.RUNS, 6)
    assert (found.runs, found.trials) == ((4, 4), (24, 24))


def test_a_large_difference_of_single_runs_is_a_verdict_with_an_assumed_spread() -> None:
    found = only(0.0, -0.3)
    assert found.comparison.verdict is Verdict.WORSE
    assert found.spread is not None
    assert (found.spread.source, found.spread.sd) == (SpreadSource.ASSUMED, 0.05)
    low, high = found.comparison.ci95_pct or (0.0, 0.0)
    assert low < 100.0 * math.expm1(-0.3) < high < -10.0
    assert only(0.0, -0.08).comparison.verdict is Verdict.UNDECIDED
    assert only(0.0, 0.0).comparison.verdict is Verdict.UNDECIDED, "never equivalent within 2 %"


def test_a_stated_spread_takes_the_place_of_the_assumed_one() -> None:
    known = Question(stated_spread=0.003)
    same, slower = (only(0.0, e, question=known, noise=0.002) for e in (0.0, -0.03))
    assert (same.comparison.verdict, slower.comparison.verdict) == (
        Verdict.EQUIVALENT, Verdict.WORSE,
    )  # fmt: skip
    assert same.spread is not None
    assert same.spread.source is SpreadSource.STATED


def test_one_new_run_is_held_against_several_of_the_baseline() -> None:
    baseline = sides_of(0.0, runs=6, run_sd=0.01, seed=3)[0]
    new = sides_of(-0.1, seed=4)[0]
    (found,) = compare_runs([baseline, new], Question()).verdicts()
    assert found.spread is not None
    assert (found.spread.source, found.spread.degrees, found.runs) == (
        SpreadSource.RUNS, 5, (6, 1),
    )  # fmt: skip
    assert found.comparison.verdict is Verdict.WORSE


@pytest.mark.parametrize("noise", [0.002, 0.02, 0.2])
def test_the_interval_is_never_narrower_than_that_inside_runs(noise: float) -> None:
    for seed in range(40):
        found = only(0.0, 0.0, noise=noise, seed=seed)
        outer, inner = found.comparison.ci95, found.within
        assert outer is not None
        assert inner is not None
        assert outer[0] <= inner[0] < inner[1] <= outer[1]


def test_trials_that_change_slowly_make_the_assumed_spread_larger() -> None:
    sides = sides_of(0.0, 0.0, noise=0.001)
    trials = sides[0].runs[0].trials
    for number, trial in enumerate(trials):
        trial.whole.values["tps"] *= float(np.exp(0.1 * number))  # type: ignore[index]
    (found,) = compare_runs(sides, Question()).verdicts()
    assert found.spread is not None
    assert found.spread.source is SpreadSource.SLOW_CHANGES
    assert found.spread.sd > 0.1


def test_gates_on_single_runs_rest_on_the_spread_between_runs() -> None:
    gates = parse_gates(["throughput>-2%"])
    outcomes = [
        compare_runs(sides_of(0.0, effect), Question(gates=gates)).gates[0].outcome.value
        for effect in (-0.3, 0.0, 0.3)
    ]
    assert outcomes == ["failed", "undecided", "holds"]


def test_several_sides_share_the_error() -> None:
    two = only(0.0, 0.0).comparison.ci95
    three = compare_runs(sides_of(0.0, 0.0, 0.0), Question()).verdicts()
    assert two is not None
    assert len(three) == 2
    assert three[0].comparison.ci95 is not None
    assert three[0].comparison.ci95[0] < two[0] or three[0].comparison.ci95[1] > two[1]
