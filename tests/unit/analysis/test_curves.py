"""Bands, quantile shifts, crossings and load curves against known answers."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from bench.validate.within_trials.courses import Array
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from pgassay.analysis.curves.effect_curves import effects_by_load, quantile_shifts
from pgassay.analysis.curves.load_curve import fit_scaling_law, load_curves, scaling_law
from pgassay.analysis.curves.model import QuantileShift
from pgassay.analysis.reading.histograms import CURVE_SHARES
from pgassay.analysis.statistics.intervals import (
    draws,
    jackknifed,
    mean_with_interval,
    widened_percentiles,
)
from pgassay.analysis.statistics.simultaneous import max_t_band
from pgassay.notes import Note
from support.synthetic.courses import plan_with, trials_with

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
# SPEC SDM91 on a SPARCcenter 2000, as in Gunther's book and R's package usl, whose fit is
# gamma = 89.995, alpha = 0.0277285, beta = 0.0001044, with a peak of 1884 at 96.52.
SDM91 = {1: 64.9, 18: 995.9, 36: 1652.4, 72: 1853.2, 108: 1828.9, 144: 1775.0, 216: 1702.2}


def noisy(source: np.random.Generator, blocks: int, places: int, spread: float = 0.01) -> Array:
    return spread * source.standard_normal((blocks, places))


def shift_of(base: Array, level: Array) -> QuantileShift:
    plan = plan_with(blocks=len(base))
    (found,) = quantile_shifts(plan, trials_with(plan, curves={"a1": base, "a2": level}))
    return found


def test_a_band_over_one_place_is_students_interval() -> None:
    values = np.array([0.1, 0.3, 0.2, 0.5, 0.4, 0.1])
    band = max_t_band(values[:, None])
    known = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert band is not None
    assert (band.low[0], band.high[0]) == pytest.approx((known.low, known.high))
    plain = mean_with_interval(values)
    assert (plain.low, plain.high) == pytest.approx((known.low, known.high))


def test_a_band_over_independent_places_is_that_of_sidak() -> None:
    rows = noisy(np.random.default_rng(1), 200, 5)
    band = max_t_band(rows)
    assert band is not None
    sidak = stats.norm.ppf(1 - (1 - 0.95 ** (1 / 5)) / 2)
    assert band.critical == pytest.approx(sidak, rel=0.03)


def test_a_band_over_places_that_go_together_is_hardly_wider_than_one() -> None:
    rows = np.repeat(noisy(np.random.default_rng(1), 200, 1), 5, axis=1)
    band = max_t_band(rows)
    assert band is not None
    assert band.critical == pytest.approx(stats.t.ppf(0.975, 199), rel=0.06)


def test_a_band_holds_at_all_places_together_as_often_as_it_says() -> None:
    source = np.random.default_rng(2)
    held = 0
    for _ in range(80):
        band = max_t_band(noisy(source, 8, 11).cumsum(axis=1))
        assert band is not None
        held += bool(np.all((band.low <= 0) & (band.high >= 0)))
    assert stats.binomtest(held, 80, 0.95).pvalue > 0.001


def test_there_is_no_band_where_nothing_can_be_known() -> None:
    assert max_t_band(np.ones((2, 3))) is None
    assert max_t_band(np.ones((6, 3))) is None
    partly = np.column_stack([np.ones(6), np.arange(6.0)])
    band = max_t_band(partly)
    assert band is not None
    assert np.isnan(band.low[0])
    assert band.low[1] < 2.5 < band.high[1]


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    values = np.array([3.0, 5.0, 4.0, 7.0, 6.5])
    left_out = np.array([np.delete(values, at).mean() for at in range(5)])
    found, wanted = (
        jackknifed(float(values.mean()), left_out, ratio=False), mean_with_interval(values),
    )  # fmt: skip
    assert found.low == pytest.approx(wanted.low)
    assert found.high == pytest.approx(wanted.high)
    low = jackknifed(2.0, np.exp(left_out), ratio=True).low
    assert low == pytest.approx(2.0 * np.exp(wanted.low - values.mean()))


def test_the_jackknife_has_no_bounds_where_an_estimate_has_no_end() -> None:
    assert jackknifed(5.0, np.array([4.0, np.inf, 6.0]), ratio=True).high is None
    assert jackknifed(0.0, np.array([0.0, 1.0, 0.0]), ratio=False).low == 0.0


def test_the_jackknife_has_no_bounds_where_leaving_out_changes_nothing() -> None:
    for value, ratio in ((0.0, False), (0.3, False), (5.0, True)):
        found = jackknifed(value, np.full(6, value), ratio=ratio)
        assert (found.value, found.low, found.high) == (value, None, None)


def test_a_parameter_at_its_bound_has_no_interval_and_identical_blocks_are_no_curve() -> None:
    plan = plan_with(clients=CLIENTS, levels=("off",))
    # Better than linear: no contention and no coherence fit it best, whichever block is left out.
    tps = np.array(CLIENTS, dtype=float) ** 1.2 * np.exp(
        noisy(np.random.default_rng(8), 6, 7, 0.01)
    )
    (curve,) = load_curves(plan, trials_with(plan, {"a1": tps}))
    assert curve.fit is not None
    assert (curve.fit.coherence.value, curve.fit.coherence.high) == (0.0, None)
    assert curve.fit.rate.high is not None
    law = scaling_law(np.array(CLIENTS, dtype=float), 1000, 0.05, 0.002)
    (same,) = load_curves(plan, trials_with(plan, {"a1": np.tile(law, (6, 1))}))
    assert same.fit is None
    assert same.refused == Note("analysis/curves/constant-blocks")


def test_widened_percentiles_are_the_normal_ones_for_many_units_and_wider_for_few() -> None:
    values = np.random.default_rng(0).standard_normal(100_000)
    assert widened_percentiles(values, 10_000) == pytest.approx((-1.96, 1.96), abs=0.03)
    low, high = widened_percentiles(values, 6)
    assert high == pytest.approx(math.sqrt(6 / 5) * stats.t.ppf(0.975, 5), abs=0.1)
    assert low == pytest.approx(-high, abs=0.1)
    assert draws(5, 10).max() <= 4


def test_a_known_shift_of_every_quantile_is_found() -> None:
    source = np.random.default_rng(3)
    base = np.exp(noisy(source, 6, len(CURVE_SHARES)) + np.linspace(0, 3, len(CURVE_SHARES)))
    truth = np.linspace(-0.2, 0.4, len(CURVE_SHARES))
    found = shift_of(base, base * np.exp(truth + noisy(source, 6, len(CURVE_SHARES))))
    for true, band in zip(truth, found.band95_pct, strict=True):
        assert band is not None
        assert band[0] < 100 * math.expm1(true) < band[1]
    assert found.band95_pct[0][1] < 0 < found.band95_pct[-1][0]  # type: ignore[index]
    assert found.blocks == 6
    assert found.refused is None


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 100.0), st.randoms(use_true_random=False))
def test_neither_scale_nor_order_of_blocks_matters_and_labels_mirror(
    seed: int, factor: float, source: Random
) -> None:
    base, level = (np.exp(noisy(np.random.default_rng(seed + k), 6, 11, 0.1)) for k in (0, 1))
    found = shift_of(base, level)
    scaled = shift_of(factor * base, factor * level)
    assert scaled.shift_pct == pytest.approx(found.shift_pct)
    order = list(range(6))
    source.shuffle(order)
    assert shift_of(base[order], level[order]).shift_pct == pytest.approx(found.shift_pct)
    mirrored = shift_of(level, base)
    for band, other in zip(found.band95_pct, mirrored.band95_pct, strict=True):
        assert band is not None
        assert other is not None
        assert 1 + band[0] / 100 == pytest.approx(1 / (1 + other[1] / 100))


def test_too_few_blocks_and_constant_latencies_are_refused_with_a_reason() -> None:
    ones = np.ones((6, 11))
    assert shift_of(ones, ones).refused == Note("analysis/statistics/constant")
    few = shift_of(ones[:2], 2 * ones[:2])
    assert few.refused == Note("analysis/statistics/few-blocks", {"fewest": 3, "number": 2})
    assert few.shift_pct == pytest.approx([100.0] * 11)
    assert set(few.band95_pct) == {None}


def test_a_trial_without_latencies_leaves_its_block_out() -> None:
    plan = plan_with(blocks=4)
    curves = {arm: np.exp(noisy(np.random.default_rng(1), 4, 11)) for arm in ("a1", "a2")}
    curves["a2"][0] = math.nan
    (found,) = quantile_shifts(plan, trials_with(plan, curves=curves))
    assert found.blocks == 3
    curves["a2"][:] = math.nan
    assert quantile_shifts(plan, trials_with(plan, curves=curves)) == ()


def test_the_load_at_which_an_effect_changes_sign_has_an_interval() -> None:
    plan = plan_with(clients=CLIENTS)
    source = np.random.default_rng(4)
    truth = 0.06 * (math.log(12) - np.log(CLIENTS))
    base = 9 + noisy(source, 6, 7)
    tps = {"a1": np.exp(base), "a2": np.exp(base + truth + noisy(source, 6, 7))}
    (found,) = effects_by_load(plan, trials_with(plan, tps))
    (crossing,) = found.crossings
    assert crossing.low < 12 < crossing.high
    assert crossing.at == pytest.approx(12, rel=0.3)
    assert crossing.below == "better"
    (mirrored,) = effects_by_load(plan, trials_with(plan, {"a1": tps["a2"], "a2": tps["a1"]}))
    assert mirrored.crossings[0].below == "worse"
    assert mirrored.crossings[0].at == pytest.approx(crossing.at)


def test_noise_around_zero_is_no_crossing() -> None:
    plan = plan_with(clients=CLIENTS)
    source = np.random.default_rng(5)
    tps = {arm: np.exp(9 + noisy(source, 6, 7, 0.05)) for arm in ("a1", "a2")}
    (found,) = effects_by_load(plan, trials_with(plan, tps))
    assert min(found.effect_pct) < 0 < max(found.effect_pct)
    assert found.crossings == ()


def test_a_block_in_which_a_step_is_missing_is_left_out() -> None:
    plan = plan_with(clients=CLIENTS)
    tps = {arm: np.exp(9 + noisy(np.random.default_rng(6), 6, 7)) for arm in ("a1", "a2")}
    tps["a1"][2, 3] = 0.0
    (found,) = effects_by_load(plan, trials_with(plan, tps))
    assert found.blocks == 5
    assert effects_by_load(plan_with(), []) == ()


def test_the_scaling_law_is_that_of_gunthers_peak() -> None:
    gamma, alpha, beta = 89.9952330, 0.0277285, 0.0001044
    knee = math.sqrt((1 - alpha) / beta)
    assert knee == pytest.approx(96.52, abs=0.05)
    assert scaling_law(np.array([knee]), gamma, alpha, beta)[0] == pytest.approx(1884, abs=1)


def test_the_fit_is_that_of_scipys_least_squares() -> None:
    clients, tps = np.array(list(SDM91), dtype=float), np.array(list(SDM91.values()))

    def log_law(n: Array, *parameters: float) -> Array:
        return np.log(scaling_law(n, *parameters))

    known, _ = optimize.curve_fit(
        log_law,
        clients,
        np.log(tps),
        p0=[90, 0.03, 1e-4],
        bounds=(0, np.inf),
        xtol=1e-14,
        ftol=1e-14,
    )
    found = fit_scaling_law(clients, np.log(tps))
    assert found == pytest.approx(known.tolist(), rel=1e-3)
    # Another weighting than R's, and so another knee, not far from it.
    assert math.sqrt((1 - found[1]) / found[2]) == pytest.approx(96.52, rel=0.2)


def test_an_exact_curve_gives_back_its_parameters() -> None:
    clients = np.array(CLIENTS, dtype=float)
    for truth in ((1000.0, 0.1, 0.002), (50.0, 0.0, 0.0), (50.0, 0.3, 0.0)):
        assert fit_scaling_law(clients, np.log(scaling_law(clients, *truth))) == pytest.approx(
            truth, abs=1e-6
        )


def test_a_knee_is_named_with_its_interval_where_the_data_show_it() -> None:
    plan = plan_with(clients=CLIENTS, levels=("off",))
    source = np.random.default_rng(7)
    law = scaling_law(np.array(CLIENTS, dtype=float), 1000, 0.05, 0.002)
    (curve,) = load_curves(plan, trials_with(plan, {"a1": law * np.exp(noisy(source, 6, 7, 0.02))}))
    assert curve.fit is not None
    knee = curve.fit.knee_clients
    assert knee is not None
    assert knee.low is not None
    assert knee.high is not None
    assert knee.low < math.sqrt(0.95 / 0.002) < knee.high
    assert curve.fit.misfit_pct < 2


def test_a_curve_that_still_rises_has_no_knee_and_says_so() -> None:
    plan = plan_with(clients=CLIENTS, levels=("off",))
    law = scaling_law(np.array(CLIENTS, dtype=float), 1000, 0.1, 0.0)
    tps = law * np.exp(noisy(np.random.default_rng(8), 6, 7, 0.02))
    (curve,) = load_curves(plan, trials_with(plan, {"a1": tps}))
    assert curve.fit is not None
    assert curve.fit.knee_clients is None
    assert curve.fit.knee_refused is not None


def test_three_numbers_of_clients_or_two_blocks_are_no_curve() -> None:
    three = plan_with(clients=(1, 8, 64), levels=("off",))
    (curve,) = load_curves(three, trials_with(three, {"a1": np.full((6, 3), 100.0)}))
    assert curve.fit is None
    assert curve.refused == Note("analysis/curves/few-loads", {"fewest": 4, "number": 3})
    two = plan_with(clients=CLIENTS, levels=("off",), blocks=2)
    (curve,) = load_curves(two, trials_with(two, {"a1": np.full((2, 7), 100.0)}))
    assert curve.refused == Note("analysis/curves/few-blocks", {"fewest": 3, "number": 2})
    zero = plan_with(clients=CLIENTS, levels=("off",))
    assert load_curves(zero, trials_with(zero, {"a1": np.zeros((6, 7))})) == ()
