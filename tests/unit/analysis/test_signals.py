"""Everything sampled of a trial is one figure by source, object and name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.analysis.measures.signals import by_arm, read_signals
from pgassay.analysis.measures.trial import measure_trial
from support.synthetic.directories import synthetic_run


def trial(number: int, arm: str, values: dict[tuple[str, str, str], float]) -> TrialSignals:
    return TrialSignals(number, number, arm, 10.0, 1000, values)


def test_signals_agree_with_the_measures_of_the_same_trial(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run")
    stored = next(iter(run.trials()))
    (arm,) = by_arm([stored.summary().arm], [read_signals(stored)])
    measures = measure_trial(stored).whole.values
    one = arm.trials[0]
    wal_a_second = arm.mean("wal_position", name="insert_bytes")
    assert wal_a_second is not None
    assert wal_a_second * one.seconds / one.transactions == pytest.approx(
        measures["wal_bytes_per_tx"]
    )
    waiting = sum(value for name, value in measures.items() if name.startswith("wait_"))
    sessions = arm.mean("sessions")
    assert sessions is not None
    assert sessions * one.seconds / one.transactions * 1e3 == pytest.approx(waiting, rel=0.05)


def test_patterns_sum_what_matches_and_trials_without_it_have_none() -> None:
    arm = ArmSignals(
        "a1",
        (
            trial(
                1, "a1", {("sessions", "", "LWLock:WALWrite"): 2.0, ("sessions", "", "CPU"): 1.0}
            ),
            trial(2, "a1", {("sessions", "", "LWLock:WalWrite"): 4.0}),
            trial(3, "a1", {("database", "d", "deadlocks"): 0.5}),
        ),
    )
    assert arm.total("sessions", name="LWLock:wal*") == (2.0, 4.0, None)
    assert arm.mean("sessions", name="LWLock:WAL*") == 3.0
    assert arm.total("sessions") == (3.0, 4.0, None)
    assert arm.mean("sessions", name="IO:*") is None


def test_arms_keep_the_plans_order_and_those_without_trials_are_left_out() -> None:
    found = by_arm(["a2", "a1", "a3"], [trial(1, "a1", {}), trial(2, "a2", {})])
    assert [one.arm for one in found] == ["a2", "a1"]
