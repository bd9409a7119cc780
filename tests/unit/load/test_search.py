"""The search shows what it claims, and on a server with a known limit claims what is true."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.analysis.search import (
    TESTS_PER_SIDE,
    SearchResult,
    confirmations_for,
    levels_between,
    most_probes,
    search,
)
from pgassay.cli.load.search import DISAGREE, probe_caveats
from pgassay.trials.load.caveats import CLIENT_LIMITED


def test_a_search_says_what_limits_it_as_soon_as_a_probe_shows_it() -> None:
    assert probe_caveats({"client_limited": False}, 1, {True}) == []
    assert probe_caveats({"client_limited": True}, 1, {True}) == [str(CLIENT_LIMITED)]
    assert probe_caveats({"client_limited": False}, 1, {True, False}) == [DISAGREE]


LEVELS = levels_between(100, 2000, 0.05, whole=False)


class SimulatedServer:
    """Latency rises with the load; each probe draws noise around it."""

    def __init__(self, limit: float, noise: float, seed: int) -> None:
        self._limit, self._noise, self._source = limit, noise, random.Random(seed)

    def probe(self, level: float) -> bool:
        return self._source.gauss(level, self._noise * level) <= self._limit


def searched(limit: float, noise: float, seed: int = 1) -> SearchResult:
    return search(LEVELS, SimulatedServer(limit, noise, seed).probe, 0.95)


@given(st.floats(100.0, 1999.0))
def test_without_noise_the_limit_lies_between_two_neighbouring_levels(limit: float) -> None:
    found = searched(limit, noise=0.0)
    assert found.holds is not None
    assert found.breaks is not None
    assert found.holds <= limit < found.breaks
    assert LEVELS.index(found.breaks) == LEVELS.index(found.holds) + 1


def test_nothing_is_claimed_outside_the_range() -> None:
    assert searched(50, noise=0.0).holds is None
    assert searched(50, noise=0.0).breaks == LEVELS[0]
    assert searched(5000, noise=0.0).holds == LEVELS[-1]
    assert searched(5000, noise=0.0).breaks is None


def test_false_claims_are_rarer_than_the_confidence_allows() -> None:
    wrong = holds = breaks = 0
    for seed in range(2000):
        found = searched(700.0, noise=0.10, seed=seed)
        too_high = found.holds is not None and found.holds > 700
        too_low = found.breaks is not None and found.breaks <= 700
        wrong += too_high or too_low
        holds += found.holds is not None
        breaks += found.breaks is not None
    assert wrong / 2000 <= 0.05
    assert holds > 1900
    assert breaks > 1900


def test_a_noisy_server_still_gets_an_answer_or_the_best_supported_level() -> None:
    unanswered = 0
    for seed in range(300):
        found = searched(700.0, noise=0.30, seed=seed)
        assert len(found.probes) <= most_probes(len(LEVELS), 0.95)
        if found.holds is None:
            unanswered += 1
            assert found.best_held is not None
            assert 0 <= found.best_held.confidence < 0.95
            assert found.best_held.agreeing <= found.best_held.probes
        else:
            assert found.best_held is not None
            assert found.best_held.confidence >= 0.95
            assert found.best_held.level == found.holds
    assert unanswered < 60, "before, levels were too close to each other and 141 had no answer"


def test_the_number_of_confirmations_follows_from_the_confidence() -> None:
    for confidence in (0.5, 0.9, 0.95, 0.99):
        needed = confirmations_for(confidence)
        tests = 2 * 2 * TESTS_PER_SIDE
        assert tests * 0.5**needed <= (1 - confidence) * (1 + 1e-9)
        assert tests * 0.5 ** (needed - 1) > 1 - confidence
    assert confirmations_for(0.95) == 9


def test_confirming_probes_are_fresh_ones() -> None:
    found = searched(700.0, noise=0.0)
    confirmed = [p for p in found.probes if p.phase == "confirm" and p.level == found.holds]
    assert len(confirmed) == found.confirmations
    assert all(probe.held for probe in confirmed)


@pytest.mark.parametrize("whole", [True, False])
def test_levels_run_from_end_to_end_in_steps_no_wider_than_asked(whole: bool) -> None:
    found = levels_between(10, 1000, 0.1, whole=whole)
    assert (found[0], found[-1]) == (10, 1000)
    slack = 1.0 if whole else 0.1
    for low, high in itertools.pairwise(found):
        assert low < high <= low * 1.1 + slack
    assert levels_between(1, 4, 0.05, whole=True) == (1, 2, 3, 4)
