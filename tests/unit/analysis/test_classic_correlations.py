"""Classic correlations and trends, and what becomes of them beside the tested ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgassay.analysis.classic.correlations import Tested, agreement, correlations, pearson
from pgassay.analysis.classic.model import (
    LIMITS,
    ClassicCorrelation,
    ClassicTrend,
    label,
)
from pgassay.analysis.classic.trends import incident, trends
from pgassay.analysis.measures.courses.even_series import EvenSeries, interval_width_s
from pgassay.analysis.measures.courses.figures import figures
from support.synthetic.courses import noise_of
from support.synthetic.even import Array, even


def pair(trials: list[EvenSeries], first: str, second: str) -> ClassicCorrelation:
    found = correlations({"a1": [figures(one, 30.0) for one in trials]}, {"a1": trials})
    return next(one for one in found["a1"] if (one.first, one.second) == (first, second))


@pytest.mark.parametrize(
    ("table", "value", "expected"),
    [
        ("trend", 1.0, "very high"), ("trend", 0.8, "very high"), ("trend", 0.79, "good"),
        ("trend", 0.6, "good"), ("trend", 0.59, "satisfactory"), ("trend", 0.2, "weak"),
        ("trend", 0.19, "unusable"), ("correlation", 0.7, "very high"),
        ("correlation", 0.69, "high"), ("correlation", 0.5, "high"),
        ("correlation", 0.49, "weak or medium"), ("correlation", 0.0, "negative or none"),
        ("correlation", -0.4, "negative or none"), ("correlation", -0.6, "high, negative"),
        ("correlation", -0.8, "very high, negative"), ("weighted", 0.2, "critical"),
        ("weighted", 0.19, "high"), ("weighted", 0.1, "high"), ("weighted", 0.04, "medium"),
        ("weighted", 0.01, "low"), ("weighted", 0.009, "insignificant"),
    ],
)  # fmt: skip
def test_labels_begin_at_their_limits(table: str, value: float, expected: str) -> None:
    assert label(value, LIMITS[table]["labels"]) == expected


@pytest.mark.parametrize(
    ("measured_s", "width_s"), [(7200, 60), (1200, 60), (1199, 30), (600, 30), (100, 5), (12, 1)]
)
def test_intervals_are_minutes_where_a_trial_has_twenty_else_shorter(
    measured_s: float, width_s: float
) -> None:
    assert interval_width_s(measured_s) == width_s


def test_pearson_is_that_of_numpy_and_zero_where_nothing_changes() -> None:
    source = np.random.default_rng(1)
    first = source.standard_normal(20)
    second = first + source.standard_normal(20)
    assert pearson(first, second) == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert pearson(first, np.full(20, 3.0)) == 0.0
    assert pearson(first[:4], second[:4]) is None
    gaps = np.where(np.arange(20) < 2, np.nan, first)
    assert pearson(gaps, second) == pytest.approx(np.corrcoef(first[2:], second[2:])[0, 1])


def test_series_that_really_move_together_agree() -> None:
    source = np.random.default_rng(2)
    trials = []
    for number in range(1, 5):
        waits = 2.0 + 0.3 * noise_of(source, 600, 0.9)
        wa = 10.0 * waits + noise_of(source, 600, 0.5)
        trials.append(even({"wait/IO": waits, "cpu_iowait": wa}, number=number))
    found = pair(trials, "IO", "wa")
    assert found.r is not None
    assert found.r > 0.9
    assert found.label == "very high"
    assert found.honest_r is not None
    assert found.honest_r > 0.5
    assert found.ci95 is not None
    assert found.ci95[0] > 0.5
    assert found.clear
    assert found.claims
    assert found.trials == 4
    assert found.agreement == "agree"


def test_series_that_only_drift_together_are_unclear_when_tested() -> None:
    source = np.random.default_rng(3)
    trials = [
        even(
            {
                "wait/IO": np.linspace(1, 3, 600) + 0.2 * source.standard_normal(600),
                "cpu_iowait": np.linspace(5, 20, 600) + source.standard_normal(600),
            },
            number=number,
        )
        for number in range(1, 5)
    ]
    found = pair(trials, "IO", "wa")
    assert found.label == "very high"
    assert found.claims
    assert found.clear is False
    assert found.agreement == "unclear"


def test_series_that_only_share_checkpoints_are_unclear_when_tested() -> None:
    source = np.random.default_rng(4)
    starts = np.arange(15.0, 600.0, 90.0)
    since = (np.arange(600) - 15) % 90
    dips = np.where(since < 40, 1.0, 0.0)
    trials = [
        even(
            {
                "wait/IO": 1 + dips + 0.05 * source.standard_normal(600),
                "cpu_iowait": 5 + 5 * dips + 0.3 * source.standard_normal(600),
            },
            number=number,
            checkpoints_s=starts.tolist(),
        )
        for number in range(1, 5)
    ]
    found = pair(trials, "IO", "wa")
    assert found.label == "very high"
    assert found.agreement == "unclear"


def test_series_that_only_rise_with_the_steps_of_the_load_are_unclear_when_tested() -> None:
    source = np.random.default_rng(10)
    level = np.where(np.arange(600) < 300, 1.0, 3.0)
    trials = [
        even(
            {
                "wait/IO": level + 0.2 * source.standard_normal(600),
                "cpu_iowait": 10 * level + 2.0 * source.standard_normal(600),
            },
            number=number,
            steps=[(0, 300), (300, 600)],
        )
        for number in range(1, 5)
    ]
    found = pair(trials, "IO", "wa")
    assert found.label == "very high"
    assert found.agreement == "unclear"


def test_whatever_is_called_high_among_white_noise_disagrees() -> None:
    source = np.random.default_rng(5)
    names = ("wait/IO", "wait/LWLock", "wait/IPC", "wait/Lock", "commits", "pgpgin", "pgpgout",
             "procs_blocked", "procs_running", "ctxt", "intr", "cpu_user", "cpu_system",
             "cpu_iowait", "sda/reads", "sda/sectors_read", "sda/busy_ms")  # fmt: skip
    claimed, refuted, missed = 0, 0, 0
    for _ in range(30):
        noise = {name: 50.0 + source.standard_normal(600) for name in names}
        trial = even(noise)
        own = correlations({"a1": [figures(trial, 30.0)]}, {"a1": [trial]})["a1"]
        # Speed is commits and rows, and cs, us, sy share nothing: all pairs are unrelated.
        claimed += sum(one.claims for one in own)
        refuted += sum(one.claims and one.agreement == "unclear" for one in own)
        missed += sum(one.agreement == "missed" for one in own)
    assert claimed >= 5, "twenty intervals of noise look related now and then"
    assert refuted == claimed
    assert missed == 0


def test_trials_that_are_too_short_are_said_to_be() -> None:
    line = np.linspace(1.0, 2.0, 12)
    trial = even({"wait/IO": line, "cpu_iowait": 10 * line}, seconds=12)
    found = correlations({"a1": [figures(trial, 1.0)]}, {"a1": [trial]})["a1"]
    one = next(each for each in found if (each.first, each.second) == ("IO", "wa"))
    assert one.label == "very high"
    assert one.honest_r is None
    assert one.clear is None
    assert one.agreement == "too little data"


def tested(r: float, low: float, high: float, p: float) -> Tested:
    return Tested(r, (low, high), p, 4)


@pytest.mark.parametrize(
    ("r", "other", "expected"),
    [
        (None, tested(0.9, 0.8, 0.95, 0.001), None),
        (0.8, None, "too little data"),
        (0.3, None, None),
        (0.8, tested(0.7, 0.6, 0.8, 0.001), "agree"),
        (0.8, tested(0.1, -0.1, 0.3, 0.9), "unclear"),
        (0.8, tested(-0.4, -0.6, -0.2, 0.001), "opposite direction"),
        (0.8, tested(0.25, 0.1, 0.4, 0.01), "weaker"),
        (-0.8, tested(-0.7, -0.8, -0.6, 0.001), "agree"),
        (0.1, tested(0.7, 0.6, 0.8, 0.001), "missed"),
        (0.1, tested(0.3, 0.2, 0.4, 0.001), "agree"),
        (0.1, tested(0.3, -0.2, 0.7, 0.3), None),
        (0.8, tested(0.3, -0.99, 0.99, 1.0), "too little data"),
        (0.1, tested(0.3, -0.99, 0.99, 1.0), None),
    ],
)
def test_each_way_to_agree_or_not(
    r: float | None, other: Tested | None, expected: str | None
) -> None:
    assert agreement(r, other) == expected


def one_trend(name: str, trials: list[EvenSeries]) -> ClassicTrend:
    found = trends([figures(one, 30.0) for one in trials], trials, ())
    return next(one for one in found if one.series == name)


def rising(source: np.random.Generator, noise: float) -> Array:
    line: Array = np.linspace(100.0, 150.0, 600) + noise * source.standard_normal(600)
    return line


def test_a_line_has_an_r2_of_one_an_angle_of_45_degrees_and_its_change() -> None:
    source = np.random.default_rng(6)
    trials = [even({"commits": rising(source, 1.0)}, number=number) for number in (1, 2, 3)]
    found = one_trend("commits", trials)
    assert found.r2 == pytest.approx(1.0, abs=0.01)
    assert found.label == "very high"
    assert found.angle_deg == pytest.approx(45.0, abs=0.5)
    assert found.change_pct == pytest.approx(40.0, abs=1.0)
    low, high = found.ci95_pct or (0.0, 0.0)
    assert 38.0 < low < high < 42.0
    assert found.agreement == "agree"


def test_a_trend_that_each_trial_has_in_another_direction_is_unclear_when_tested() -> None:
    source = np.random.default_rng(7)
    up = rising(source, 1.0)
    trials = [even({"commits": up}), even({"commits": up[::-1]}, number=2), even({"commits": up})]
    found = one_trend("commits", trials)
    assert found.label == "very high"
    assert found.agreement == "unclear"


def test_trends_that_the_classic_view_sees_in_slow_noise_are_unclear_when_tested() -> None:
    source = np.random.default_rng(8)
    series = [1000.0 + noise_of(source, 600, 0.99) for _ in range(40)]
    found = [one_trend("commits", [even({"commits": one})]) for one in series]
    claimed = [one for one in found if one.claims]
    assert len(claimed) >= 5
    # Chosen for their trends, some lie outside an interval that holds for nineteen in twenty.
    assert sum(one.agreement == "unclear" for one in claimed) >= 0.8 * len(claimed)


def test_what_only_rises_with_the_steps_of_the_load_has_no_trend_of_its_own() -> None:
    source = np.random.default_rng(12)
    clients = np.repeat([5.0, 8.0, 12.0, 22.0], 150)
    steps = [(at, at + 150) for at in range(0, 600, 150)]

    def trials(drift: float) -> list[EvenSeries]:
        line = np.linspace(0.0, drift, 600)
        rows = (clients + line + 0.2 * source.standard_normal(600) for _ in range(4))
        return [even({"commits": row}, number=n, steps=steps) for n, row in enumerate(rows, 1)]

    ramp = one_trend("commits", trials(0.0))
    assert (ramp.label, ramp.agreement) == ("very high", "unclear")
    assert abs(ramp.change_pct or 99.0) < 2.0
    mean = clients.mean() + 3.0
    assert one_trend("commits", trials(6.0)).change_pct == pytest.approx(600.0 / mean, abs=2.0)
    assert one_trend("commits", trials(0.0)[:1]).agreement == "too little data"


def test_a_constant_has_no_trend_and_what_was_not_read_none_at_all() -> None:
    found = one_trend("commits", [even()])
    assert (found.r2, found.label, found.claims) == (0.0, "unusable", False)
    unread = one_trend("commits", [even(without=["commits"])])
    assert (unread.r2, unread.label, unread.change_pct) == (None, None, None)


def test_falling_speed_and_rising_waits_are_an_incident() -> None:
    source = np.random.default_rng(9)
    up = rising(source, 1.0)

    def of(commits: Array, waits: Array) -> bool | None:
        trial = even({"commits": commits, "wait/IO": waits})
        return incident(trends([figures(trial, 30.0)], [trial], ()))

    assert of(up[::-1], up) is True
    assert of(up, up) is False
    assert of(source.standard_normal(600), up) is False
    trial = replace(even(), values={}, disks=())
    assert incident(trends([figures(trial)], [trial], ())) is None
