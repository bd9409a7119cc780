"""Steady trials, warm-ups and the cut that is advised: the small form of `make validate`."""

from __future__ import annotations

import numpy as np
import pytest
from bench.courses import BASE_TPS
from bench.steadiness_errors import (
    LENGTHS_S,
    NOISES,
    SHAPES,
    Noise,
    Shape,
    bias,
    judged,
    off_by,
)
from scipy import stats

from pgassay.analysis.course_model import Course

RUNS = 60


@pytest.mark.parametrize("seconds", LENGTHS_S)
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_steady_trials_are_seldom_called_anything_else(noise: Noise, seconds: int) -> None:
    rows = noise.draw(np.random.default_rng(seconds), RUNS, seconds)
    called = sum(judged(BASE_TPS * np.exp(row)).course is not Course.STEADY for row in rows)
    assert called <= stats.binom.ppf(1 - 1e-4, RUNS, 0.05)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.settles][1:], ids=lambda s: s.name)
def test_the_advised_cut_takes_most_of_a_warm_up_out_of_the_mean(shape: Shape) -> None:
    course = shape.course(600)
    noise = Noise(0.5).draw(np.random.default_rng(1), 20, 600)
    rows = BASE_TPS * course * np.exp(noise)
    found = [judged(row) for row in rows]
    assert sum(one.course is Course.WARMING for one in found) >= 18
    cuts = [round(one.warmup_s) for one in found]
    assert bias(rows, course, [0] * 20) < -1.0
    assert abs(bias(rows, course, cuts)) < 0.5


@pytest.mark.parametrize("shape", [s for s in SHAPES if not s.settles], ids=lambda s: s.name)
def test_a_trial_that_never_settles_is_not_called_steady(shape: Shape) -> None:
    noise = Noise(0.5).draw(np.random.default_rng(2), 20, 600)
    rows = BASE_TPS * shape.course(600) * np.exp(noise)
    assert sum(judged(row).course is Course.UNSTEADY for row in rows) >= 18


def test_the_end_of_a_warm_up_is_where_it_has_settled() -> None:
    ends = {shape.name: shape.end(600) for shape in SHAPES if shape.settles}
    assert list(ends.values()) == [0, 123, 60, 118]


def test_cuts_are_told_by_their_middle_and_nine_of_ten() -> None:
    assert off_by([]) == "–"
    assert off_by([-10, 0, 0, 0, 10]) == "+0 s (-8 to +8)"
