"""Association inside trials: what is found, and what must not be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bench.validate.within_trials.courses import Array, course_of

from pgassay.analysis.curves.association import associations
from pgassay.analysis.measures.courses.trial_course import read_course
from pgassay.analysis.statistics.prewhitening import (
    autocorrelations,
    cycle_phase,
    whitened,
    without_means,
)
from support.synthetic.courses import noise_of, recorded_tps
from support.synthetic.directories import synthetic_run

# statsmodels 0.15.0: yule_walker(order=2, method="mle") and acf(nlags=3) of the recorded series.
YULE_WALKER = {"select-only": (0.866698, 0.04574), "simple-update": (0.477492, 0.196861)}
ACF = {
    "select-only": (1.0, 0.908241, 0.832911, 0.798477),
    "simple-update": (1.0, 0.594532, 0.480745, 0.462997),
}


@pytest.mark.parametrize("load", list(ACF))
def test_autocorrelations_and_prewhitening_are_those_of_statsmodels(load: str) -> None:
    tps = recorded_tps(load)[None, :]
    assert autocorrelations(tps, 3)[0] == pytest.approx(ACF[load], abs=1e-6)
    centred = tps - tps.mean()
    one, two = YULE_WALKER[load]
    by_hand = centred[0, 2:] - one * centred[0, 1:-1] - two * centred[0, :-2]
    # Akaike may prefer the first order alone; the residuals then are those of its own coefficient.
    first = centred[0, 2:] - ACF[load][1] * centred[0, 1:-1]
    found = whitened(centred, most_lags=2)[0]
    assert found == pytest.approx(by_hand, abs=1e-2) or found == pytest.approx(first, abs=1e-2)


def test_a_series_that_leads_by_three_seconds_is_reported_with_its_lag_and_sign() -> None:
    source = np.random.default_rng(1)
    courses = []
    for number in range(1, 7):
        driver = noise_of(source, 203, 0.9)
        tps = 1000 * np.exp(-0.03 * driver[:-3] + 0.01 * noise_of(source, 200, 0.5))
        others = {f"noise {at}": noise_of(source, 200, 0.9) for at in range(20)}
        courses.append(course_of(tps, number=number, series={"leads": driver[3:], **others}))
    found = associations(courses)
    assert found.series == 21
    assert found.trials == 6
    (first,) = found.found
    assert first.series == "leads"
    assert first.lag_s == 3.0
    assert first.correlation < -0.5
    assert first.ci95[0] < first.correlation < first.ci95[1] < 0
    assert first.effective_samples < 6 * 200


def test_random_walks_that_share_nothing_are_not_associated() -> None:
    source = np.random.default_rng(2)
    courses = [
        course_of(
            1000 * np.exp(0.003 * source.standard_normal(300).cumsum()),
            number=number,
            series={f"walk {at}": source.standard_normal(300).cumsum() for at in range(40)},
        )
        for number in range(1, 5)
    ]
    assert associations(courses).found == ()


def test_real_series_of_different_runs_are_not_associated() -> None:
    read, write = recorded_tps("select-only"), recorded_tps("simple-update")
    assert abs(np.corrcoef(read, write)[0, 1]) > 0.5, "as they are they look alike"
    assert associations([course_of(write, series={"read": read})]).found == ()


def test_series_that_share_only_the_checkpoints_are_not_associated() -> None:
    source = np.random.default_rng(3)
    starts = [10.0, 40.0, 70.0, 100.0, 130.0]
    dips = np.zeros(150)
    for start in starts:
        dips[int(start) : int(start) + 6] = np.linspace(1, 0, 6)
    courses = [
        course_of(
            1000 * np.exp(-0.3 * dips + 0.02 * source.standard_normal(150)),
            number=number,
            series={"writes": dips + 0.05 * source.standard_normal(150)},
            checkpoints_s=[] if number > 6 else starts,
        )
        for number in range(1, 7)
    ]
    found = associations(courses)
    assert found.phase_removed == 6
    assert found.found == ()


def test_neither_scale_nor_the_order_of_trials_matters() -> None:
    source = np.random.default_rng(4)
    courses = []
    for number in range(1, 5):
        driver = noise_of(source, 120, 0.5)
        tps = 1000 * np.exp(0.02 * driver + 0.02 * source.standard_normal(120))
        courses.append(course_of(tps, number=number, series={"with": driver}))
    (first,) = associations(courses).found
    scaled = [
        course_of(7 * c.transactions, number=c.number, series={"with": 1e6 * c.series[0]})
        for c in courses[::-1]
    ]
    (second,) = associations(scaled).found
    assert second.correlation == pytest.approx(first.correlation)
    assert second.p_adjusted == pytest.approx(first.p_adjusted)


def test_the_same_quantity_in_two_units_is_reported_once() -> None:
    source = np.random.default_rng(5)
    driver = noise_of(source, 200, 0.5)
    tps = 1000 * np.exp(0.02 * driver + 0.01 * source.standard_normal(200))
    series = {"pages": driver, "bytes": 8192 * driver}
    assert [a.series for a in associations([course_of(tps, series=series)]).found] == ["pages"]


@pytest.mark.parametrize("tps", [np.full(12, 1000.0), np.full(200, 1000.0), np.zeros(200)])
def test_short_and_constant_trials_are_refused_with_a_reason(tps: Array) -> None:
    found = associations([course_of(tps, series={"x": np.arange(float(len(tps)))})])
    assert found.found == ()
    assert found.refused is not None
    assert associations([]).refused is not None


def test_the_phase_of_a_cycle_repeats_and_needs_two_whole_ones() -> None:
    at = np.arange(90.0)
    assert cycle_phase(at, np.array([10.0, 40.0])) is None
    phase = cycle_phase(at, np.array([10.0, 40.0, 70.0]))
    assert phase is not None
    assert phase[10] == phase[40] == phase[70] == 0
    assert phase[5] == phase[35]
    rows = np.sin(2 * np.pi * (at - 10) / 30)[None, :]
    assert np.abs(without_means(rows, phase)).max() < 1e-9


def test_a_stored_trial_gives_its_course(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    course = read_course(run.trial(1))
    assert course is not None
    assert course.edges_s[0] == 0.0
    assert course.edges_s[-1] == 10.0
    assert len(course.tps) == 10
    assert course.steps[0].level == 8
    assert "checkpointer buffers_written" in course.names
    assert "wal_position insert_bytes" not in course.names, "an echo of the load"
    assert course.series.shape == (len(course.names), 10)
