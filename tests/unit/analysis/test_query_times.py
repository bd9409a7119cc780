"""The time of a query in a trial, and the metric of a set, which counts the queries that every
trial has."""

from __future__ import annotations

import numpy as np
import pytest

from pgassay.analysis.measures.model import ScenarioMeasures, StepMeasures, TrialMeasures
from pgassay.analysis.measures.queries import queries_that_count, with_query_times
from pgassay.analysis.measures.query_trials import time_of


def query(name: str, ms: float | None) -> ScenarioMeasures:
    times = {} if ms is None else {"mean": ms}
    return ScenarioMeasures(name, 4 if times else 0, 0 if times else 1, 1.0, {}, "latency", times)


def trial(arm: str, **ms: float | None) -> TrialMeasures:
    whole = StepMeasures(None, 0, 10, 4, {"tps": 1.0})
    queries = tuple(query(*one) for one in ms.items())
    return TrialMeasures(1, 1, 1, arm, whole, (whole,), (), scenarios=queries)


def test_a_query_that_failed_in_one_trial_is_in_the_time_of_none() -> None:
    trials = [
        trial("a1", quick=1.0, slow=100.0, ends=9e3),
        trial("a2", quick=4.0, slow=100.0, ends=None),
    ]
    assert queries_that_count(trials) == {"quick", "slow"}
    found = [one.whole.values["queries_mean"] for one in with_query_times(trials)]
    assert found == pytest.approx([10.0, 20.0])


def test_without_a_query_that_counts_there_is_no_time() -> None:
    (found,) = with_query_times([trial("a1", ends=None)])
    assert "queries_mean" not in found.whole.values


def test_a_pause_of_the_host_does_not_move_the_time_and_a_change_of_each_execution_does() -> None:
    source = np.random.default_rng(5)
    quiet = 0.2 * np.exp(0.1 * source.standard_normal(50))
    paused = quiet.copy()
    paused[::20] += 20.0
    time = time_of(quiet.tolist(), alike=True)
    assert time_of(paused.tolist(), alike=True) == pytest.approx(time, rel=0.02)
    assert time_of((1.1 * paused).tolist(), alike=True) == pytest.approx(1.1 * time, rel=0.02)
    assert time_of(paused.tolist(), alike=False) == pytest.approx(float(paused.mean()))
    assert time_of([1.0, 2.0, 9.0], alike=True) == pytest.approx(4.0), "too few to leave one out"
