"""A level changes where runs say so for several nights, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from pgassay.analysis.history.levels import Levels, levels_of


def found_in(values: np.ndarray) -> Levels:
    return levels_of(values.tolist())


def noise(runs: int, seed: int = 1, sd: float = 0.01) -> np.ndarray:
    return sd * np.random.default_rng(seed).standard_normal(runs)


def test_a_change_is_found_with_its_size_and_its_place() -> None:
    values = noise(40)
    values[25:] -= 0.05
    (shift,) = found_in(values).shifts
    assert abs(shift.at - 25) <= 1
    assert shift.earliest <= 25 <= shift.latest
    assert shift.low < -0.05 < shift.high
    assert shift.high - shift.low < 0.02


def test_a_level_that_comes_and_goes_has_both_ends() -> None:
    values = noise(40)
    values[15:23] += 0.06
    assert [one.at for one in found_in(values).shifts] == [15, 23]


def test_one_odd_run_is_no_level() -> None:
    values = noise(40)
    values[20] -= 0.5
    assert found_in(values).shifts == ()
    values[21] -= 0.5
    assert found_in(values).shifts == ()


@pytest.mark.parametrize("runs", [1, 2, 7])
def test_few_runs_have_one_level(runs: int) -> None:
    values = np.arange(float(runs))
    found = found_in(values)
    assert (found.shifts, found.means) == ((), (values.mean(),))


def test_runs_that_never_vary_change_where_they_do() -> None:
    assert found_in(np.full(20, 7.0)).shifts == ()
    (shift,) = found_in(np.repeat([7.0, 8.0], 10)).shifts
    assert (shift.at, shift.earliest, shift.latest, shift.difference) == (10, 10, 10, 1.0)


def test_slow_drift_is_no_change_of_level() -> None:
    false = 0
    for seed in range(60):
        shocks, values = noise(60, seed), np.zeros(60)
        for at in range(1, 60):
            values[at] = 0.6 * values[at - 1] + shocks[at]
        false += bool(found_in(values).shifts)
    assert false <= 9  # 6 % as measured; more than 15 % has a chance of one in two hundred


def test_several_series_together_take_stronger_evidence() -> None:
    values = noise(30, seed=4)
    values[20:] -= 0.018
    alone = levels_of(values.tolist()).shifts
    assert alone
    assert not levels_of(values.tolist(), share=1e-6).shifts
