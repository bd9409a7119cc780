"""Steady trials, warm-ups and the cut that is advised: the small form of `make validate`."""

from __future__ import annotations

import numpy as np
import pytest
from bench.validate.within_trials.courses import BASE_TPS
from bench.validate.within_trials.steadiness_errors import (
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

from pgassay.analysis.curves.model import Steadiness

pytestmark = pytest.mark.slow

RUNS = 60


LONG = [noise for noise in NOISES if noise.memory in (0.5, 0.95)]
"""Enough for `make test`; docs/measured/validation-steadiness.md has the rates of all."""
DRAWN = [
    pytest.param(noise, seconds, marks=() if seconds == 150 or noise in LONG else pytest.mark.heavy)
    for seconds in LENGTHS_S
    for noise in NOISES
]


@pytest.mark.parametrize(("noise", "seconds"), DRAWN)
def test_a_steady_trial_is_rarely_called_unsteady(noise: Noise, seconds: int) -> None:
    rows = noise.draw(np.random.default_rng(seconds), RUNS, seconds)
    called = sum(judged(BASE_TPS * np.exp(row)).course is not Steadiness.STEADY for row in rows)
    assert called <= stats.binom.ppf(1 - 1e-4, RUNS, 0.05)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.settles][1:], ids=lambda s: s.name)
def test_the_advised_warm_up_removes_most_of_the_bias(shape: Shape) -> None:
    course = shape.course(600)
    noise = Noise(0.5).draw(np.random.default_rng(1), 20, 600)
    rows = BASE_TPS * course * np.exp(noise)
    found = [judged(row) for row in rows]
    assert sum(one.course is Steadiness.WARMING for one in found) >= 18
    cuts = [round(one.warmup_s) for one in found]
    assert bias(rows, course, [0] * 20) < -1.0
    assert abs(bias(rows, course, cuts)) < 0.5


@pytest.mark.parametrize("shape", [s for s in SHAPES if not s.settles], ids=lambda s: s.name)
def test_a_trial_that_never_settles_is_called_unsteady(shape: Shape) -> None:
    noise = Noise(0.5).draw(np.random.default_rng(2), 20, 600)
    rows = BASE_TPS * shape.course(600) * np.exp(noise)
    assert sum(judged(row).course is Steadiness.UNSTEADY for row in rows) >= 18


def test_a_simulated_warm_up_ends_where_throughput_has_settled() -> None:
    ends = {shape.name: shape.end(600) for shape in SHAPES if shape.settles}
    assert list(ends.values()) == [0, 123, 60, 118]


def test_errors_of_the_cut_are_summarised_by_median_and_central_90_percent() -> None:
    assert off_by([]) == "–"
    assert off_by([-10, 0, 0, 0, 10]) == "+0 s (-8 to +8)"
