"""Weights of waits, Pareto lists, and events that one arm alone has."""

from __future__ import annotations

import numpy as np
import pytest

from pgassay.analysis.classic.wait_events import (
    events_met,
    only_in_one_arm,
    pareto,
    weighted_waits,
)
from pgassay.analysis.measures.courses.figures import figures
from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from support.synthetic.even import even


def arm(name: str, *trials: dict[tuple[str, str, str], float]) -> ArmSignals:
    return ArmSignals(
        name,
        tuple(TrialSignals(at, at, name, 60.0, 100, values) for at, values in enumerate(trials, 1)),
    )


def sessions(**events: float) -> dict[tuple[str, str, str], float]:
    """Such as `IO_WalSync=2.0`."""
    return {("sessions", "", name.replace("_", ":")): value for name, value in events.items()}


def test_a_weight_is_the_correlation_times_the_ratio_of_midranges() -> None:
    io = np.linspace(1.0, 3.0, 600)
    lock = np.full(600, 2.0)
    (first, *rest) = weighted_waits([figures(even({"wait/IO": io, "wait/Lock": lock}), 30.0)])
    assert first.wait_type == "IO"
    assert first.r == pytest.approx(1.0)
    # Midranges: IO 2, all waits 4.
    assert first.weight == pytest.approx(0.5)
    assert first.label == "critical"
    assert first.share_pct == pytest.approx(50.0)
    constant = next(one for one in rest if one.wait_type == "Lock")
    assert (constant.weight, constant.label) == (0.0, "insignificant")
    assert constant.share_pct == pytest.approx(50.0)


def test_weights_of_waits_that_were_not_sampled_are_not_measured() -> None:
    found = weighted_waits([figures(even(without=["wait/"]), 30.0)])
    assert {one.weight for one in found} == {None}
    assert {one.label for one in found} == {None}


def test_events_and_queries_are_listed_until_their_share_exceeds_80_percent() -> None:
    values = sessions(IO_A=5.0, IO_B=3.0, IO_C=1.5, IO_D=0.5, LWLock_W=1.0, Client_Read=90.0)
    values |= {
        ("query", "11", "IO:A"): 4.0,
        ("query", "22", "IO:B"): 2.0,
        ("query", "11", "CPU"): 9,
    }
    first, second = pareto(arm("a1", values, values))
    assert (first.wait_type, first.sessions) == ("IO", 10.0)
    assert [(one.name, one.cumulative_pct) for one in first.events] == [
        ("A", 50.0),
        ("B", 80.0),
        ("C", 95.0),
    ]
    assert [(one.name, one.share_pct) for one in first.queries] == [
        ("11", 40.0),
        ("not known", 40.0),
        ("22", 20.0),
    ]
    assert [one.name for one in second.events] == ["W"]


def test_an_event_has_the_number_and_share_of_the_queries_that_met_it() -> None:
    first = sessions(IO_A=1.0, LWLock_B=1.0) | {
        ("query", "1", "IO:A"): 0.5,
        ("query", "2", "IO:A"): 0.5,
        ("query", "2", "LWLock:B"): 1.0,
        ("query", "3", "CPU"): 1.0,
        ("query", "4", "Client:ClientRead"): 1.0,
    }
    met, other = events_met(arm("a1", first, sessions(IO_A=3.0)))
    assert (met.event, met.queries, met.queries_pct, met.trials) == ("IO:A", 2, 50.0, 2)
    assert met.sessions == 2.0
    assert (other.event, other.queries, other.queries_pct, other.trials) == ("LWLock:B", 1, 25.0, 1)


def test_an_event_of_one_arm_alone_is_clear_only_where_chance_does_not_explain_it() -> None:
    both, often, once = sessions(IO_A=1.0), sessions(IO_B=1.0), sessions(IO_C=0.1)
    with_ = arm("a1", *([both | often] * 7), both | often | once)
    without = arm("a2", *([both] * 8))
    found = only_in_one_arm([with_, without])
    assert [(one.event, one.arm, one.trials, one.of_trials, one.other_trials) for one in found] == [
        ("IO:B", "a1", 8, 8, 8),
        ("IO:C", "a1", 1, 8, 8),
    ]
    assert [one.clear for one in found] == [True, False]
    # Two arms × 1 of 12 870 ways to choose 8 of 16 trials; three events, Yekutieli's factor 11/6.
    assert found[0].p_adjusted == pytest.approx(2 / 12_870 * 3 * 11 / 6)
    assert only_in_one_arm([with_]) == ()
