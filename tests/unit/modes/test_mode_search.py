"""How many modes a latency has: known mixtures, tails, trials that disagree, buckets and clocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pgassay.analysis.measures.courses.latencies import GRID_STEP, place_ms
from pgassay.analysis.reading.histograms import Histogram
from pgassay.analysis.statistics.modes import Modes, find_modes
from pgassay.samples.storage.histogram_layout import HistogramLayout
from support.synthetic.latencies import PLACES, Array, Drawn, arm_of, mixture, on_grid

EDGES_NS = np.array([1e6 * place_ms(at) for at in range(PLACES + 1)])


def modes_of(drawn: Drawn, trials: int, seed: int) -> Modes:
    return find_modes(arm_of(drawn, trials, np.random.default_rng(seed)), GRID_STEP)


def share_with_one(drawn: Drawn, trials: int = 3, arms: int = 40) -> float:
    return sum(len(modes_of(drawn, trials, seed).peaks) == 1 for seed in range(arms)) / arms


def pareto(source: np.random.Generator) -> Array:
    found: Array = 1.0 + source.pareto(1.5, 3000)
    return found


def very_heavy(source: np.random.Generator) -> Array:
    """Student's t with two degrees in logarithms: clumps at latencies a thousand times longer."""
    found: Array = np.exp(np.clip(0.3 * source.standard_t(2, 3000), -7.0, 13.0))
    return found


@pytest.mark.parametrize("drawn", [mixture([(1.0, 1.0)], 3000), pareto, very_heavy])
def test_one_mode_with_any_tail_is_one_in_at_least_95_of_100_arms(drawn: Drawn) -> None:
    assert share_with_one(drawn) >= 0.95


@pytest.mark.parametrize(
    ("share", "times"), [(0.02, 5.0), (0.1, 4.0), (0.1, 12.0), (0.4, 3.0), (0.8, 4.0)]
)
def test_two_log_normal_modes_are_two_with_the_boundary_between_them(
    share: float, times: float
) -> None:
    for seed in range(10):
        found = modes_of(mixture([(1.0, 1.0 - share), (times, share)], 8000), 4, seed)
        places = [place_ms(peak + 0.5) for peak in found.peaks]
        assert places == pytest.approx([1.0, times], rel=0.15)
        assert 1.2 < place_ms(found.valleys[0]) < 0.95 * times


def test_modes_closer_than_their_widths_are_one() -> None:
    assert share_with_one(mixture([(1.0, 0.5), (1.5, 0.5)], 8000), arms=20) == 1.0


def test_a_mode_of_one_trial_is_none_of_the_arm() -> None:
    source = np.random.default_rng(5)
    one, two = mixture([(1.0, 1.0)], 5000), mixture([(1.0, 0.7), (6.0, 0.3)], 5000)
    rows = [on_grid(one(source)) for _ in range(4)] + [on_grid(two(source))]
    assert len(find_modes(np.array(rows), GRID_STEP).peaks) == 1


def test_trials_with_one_mode_each_at_two_places_have_no_second_mode() -> None:
    source = np.random.default_rng(6)
    here, there = mixture([(1.0, 1.0)], 5000), mixture([(4.0, 1.0)], 5000)
    rows = [on_grid(drawn(source)) for drawn in (here, there, here, there)]
    assert len(find_modes(np.array(rows), GRID_STEP).peaks) == 1


def test_two_trials_are_too_few_for_a_second_mode() -> None:
    assert len(modes_of(mixture([(1.0, 0.5), (9.0, 0.5)], 5000), 2, 1).peaks) == 1


def in_buckets(latencies_ns: Array, leading_bits: int) -> Histogram:
    """As the engine stores them: the highest value of each bucket."""
    values = np.maximum(latencies_ns.astype(np.int64), 1)
    widths = 1 << np.maximum(np.floor(np.log2(values)).astype(np.int64) + 1 - leading_bits, 0)
    highest = values // widths * widths + widths - 1
    found, counts = np.unique(highest, return_counts=True)
    return Histogram(found, counts, HistogramLayout(leading_bits))


def test_widths_of_buckets_that_double_make_no_peak() -> None:
    source = np.random.default_rng(7)
    # A narrow mode around 2^20 ns, where buckets become twice as wide.
    rows = [
        in_buckets(2.0**20 * np.exp(0.05 * source.standard_normal(20_000)), 9).counts_between(
            EDGES_NS
        )
        for _ in range(4)
    ]
    assert np.array(rows).sum() == pytest.approx(80_000)
    assert len(find_modes(np.array(rows), GRID_STEP).peaks) == 1


def test_a_clock_of_microseconds_makes_no_peaks_of_its_ticks() -> None:
    source = np.random.default_rng(8)
    rows = []
    for _ in range(4):
        latencies = 4_000.0 * np.exp(0.4 * source.standard_normal(20_000))
        values, counts = np.unique(np.maximum(np.round(latencies, -3), 1000), return_counts=True)
        histogram = Histogram(values.astype(np.int64), counts, HistogramLayout(None))
        assert histogram.resolution_ns == 1000.0
        rows.append(histogram.counts_between(EDGES_NS))
    coarseness = math.log(1 + 1000 / 2000)
    assert len(find_modes(np.array(rows), GRID_STEP, coarseness).peaks) == 1
