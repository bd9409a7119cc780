"""How inert a series may be: the likelihood against the dense one, and what it leaves open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from pgassay.analysis.statistics.inertia import (
    GRID,
    MOST_PLACES,
    in_means,
    likely_inertia,
    quantile,
)
from support.synthetic.courses import noise_of


def test_the_likelihood_is_that_of_the_whole_covariance_matrix() -> None:
    n = 40
    values = noise_of(np.random.default_rng(1), n, 0.8)
    values -= values.mean()
    design = np.column_stack([np.ones(n), np.arange(n) >= 25]).astype(np.float64)
    found = likely_inertia(values, design)
    assert found is not None
    known = []
    for rho, fast in zip(GRID.correlations, GRID.fast, strict=True):
        covariance = linalg.toeplitz((1 - fast) * rho ** np.arange(n)) + fast * np.eye(n)
        inverse = np.linalg.inv(covariance)
        information = design.T @ inverse @ design
        fitted = np.linalg.solve(information, design.T @ inverse @ values)
        left = values - design @ fitted
        logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
        known.append(-0.5 * (logs + (n - 2) * np.log(left @ inverse @ left)))
    weights = np.exp(np.array(known) - max(known))
    assert found.weights == pytest.approx(weights / weights.sum(), abs=1e-5)


@pytest.mark.parametrize(("memory", "known"), [(0.0, 1.0), (0.5, 3.0), (0.9, 19.0)])
def test_the_true_variance_rarely_exceeds_the_upper_quantile_and_the_median_is_close(
    memory: float, known: float
) -> None:
    source = np.random.default_rng(2)
    held, middles = 0, []
    for _ in range(20):
        values = noise_of(source, 300, memory)
        found = likely_inertia(values - values.mean(), np.ones((300, 1)))
        assert found is not None
        held += known < found.long_run_variance(0.99)
        middles.append(found.long_run_variance(0.5))
    assert held >= 16
    assert np.median(middles) == pytest.approx(known, rel=0.35)


def test_a_change_in_the_model_does_not_raise_the_long_run_variance() -> None:
    at = np.arange(300)
    values = noise_of(np.random.default_rng(3), 300, 0.5) + 5.0 * (at >= 120)
    mean = np.ones((300, 1))
    without = likely_inertia(values - values.mean(), mean)
    with_it = likely_inertia(values - values.mean(), np.column_stack([mean, at >= 120]))
    assert without is not None
    assert with_it is not None
    assert with_it.long_run_variance(0.5) == pytest.approx(3.0, rel=0.5)
    assert without.long_run_variance(0.5) > 10 * with_it.long_run_variance(0.5)


def test_scale_does_not_matter_and_a_constant_series_has_no_estimate() -> None:
    values = noise_of(np.random.default_rng(4), 100, 0.7)
    one, ten = (likely_inertia(k * values, np.ones((100, 1))) for k in (1.0, 10.0))
    assert one is not None
    assert ten is not None
    assert ten.long_run_variance(0.7) == pytest.approx(100 * one.long_run_variance(0.7))
    assert likely_inertia(np.zeros(50), np.ones((50, 1))) is None
    assert likely_inertia(values[:3], np.ones((3, 1))) is None


def test_long_series_are_averaged_first() -> None:
    columns = np.arange(4 * MOST_PLACES, dtype=np.float64).reshape(-1, 2)
    means = in_means(columns)
    assert means.shape == (MOST_PLACES, 2)
    assert means[0].tolist() == [1.0, 2.0]
    assert in_means(columns[:10]).tolist() == columns[:10].tolist()


def test_a_quantile_lies_between_places() -> None:
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([0.25, 0.25, 0.5])
    assert quantile(values, weights, 0.5) == pytest.approx(2.0)
    assert quantile(values, weights, 0.0) == pytest.approx(1.0)
    assert 2.0 < quantile(values, weights, 0.7) < 3.0
