"""Shares of modes over trials, what goes with a slow one, and how levels differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.curves.modes.latency_modes import latency_modes
from pgassay.analysis.curves.modes.model import LatencyModes, ModeContrast
from pgassay.analysis.measures.courses.latencies import (
    START_STEP_NS,
    TrialLatencies,
    read_latencies,
)
from pgassay.notes import Note
from pgassay.plan.model import Plan
from support.synthetic.courses import plan_with
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.latencies import mixture, on_grid, scenario, trial

FAST, SLOW = 1.0, 6.0


def run_of(
    shares: Mapping[str, float], *, blocks: int = 6, seed: int = 1
) -> tuple[Plan, list[TrialLatencies]]:
    """Arm → share of its slow mode."""
    source = np.random.default_rng(seed)
    plan = plan_with(blocks=blocks)
    return plan, [
        trial(
            one.block,
            one.arm,
            {
                "payment": scenario(
                    mixture([(FAST, 1 - shares[one.arm]), (SLOW, shares[one.arm])], 4000)(source)
                )
            },
        )
        for one in plan.trials
    ]


def analysed(
    shares: Mapping[str, float], **how: int
) -> tuple[tuple[LatencyModes, ...], tuple[ModeContrast, ...]]:
    plan, trials = run_of(shares, **how)
    return latency_modes(plan, trials)


def test_shares_places_and_times_of_modes_have_intervals_over_trials() -> None:
    covered = 0
    for seed in range(20):
        (one, _), _ = analysed({"a1": 0.2, "a2": 0.2}, seed=seed)
        fast, slow = one.modes
        assert fast.above_ms is None
        assert slow.above_ms is not None
        assert FAST < slow.above_ms.value < SLOW
        assert slow.peak_ms.value == pytest.approx(SLOW, rel=0.1)
        # A fifth of the transactions, six times as long: six tenths of the time.
        assert slow.time_pct.value == pytest.approx(60, abs=3)
        assert slow.share_pct.low is not None
        assert slow.share_pct.high is not None
        covered += slow.share_pct.low <= 20.0 <= slow.share_pct.high
    assert covered >= 16  # 95 % of 20, less three standard errors


def test_a_mean_between_two_modes_is_near_few_transactions() -> None:
    (one, _), _ = analysed({"a1": 0.2, "a2": 0.2})
    assert one.mean_ms.value == pytest.approx(2.06, rel=0.05)
    assert one.near_mean_pct.value < 3.0


def test_a_level_that_changes_the_share_of_the_slow_mode_is_clear() -> None:
    _, (contrast,) = analysed({"a1": 0.2, "a2": 0.1})
    assert contrast.is_clear
    assert contrast.points.value == pytest.approx(-10, abs=1.5)
    assert (contrast.scenario, contrast.blocks) == ("payment", 6)
    assert FAST < contrast.slower_than_ms < SLOW


def test_a_mode_that_only_the_level_has_is_compared_at_its_boundary() -> None:
    (_, level), (contrast,) = analysed({"a1": 0.0, "a2": 0.1})
    assert contrast.boundary_arm == level.arm == "a2"
    assert contrast.points.value == pytest.approx(10, abs=1.5)
    assert contrast.is_clear


def test_equal_levels_are_seldom_called_different() -> None:
    clear = [analysed({"a1": 0.2, "a2": 0.2}, seed=s)[1][0].is_clear for s in range(20)]
    assert sum(clear) <= 4  # 5 % of 20, and three standard errors


def test_one_mode_has_no_contrast_and_two_trials_say_why_none_is_looked_for() -> None:
    (one, _), contrasts = analysed({"a1": 0.0, "a2": 0.0})
    assert (len(one.modes), contrasts, one.refused) == (1, (), None)
    (few, _), _ = analysed({"a1": 0.2, "a2": 0.2}, blocks=2)
    assert few.refused == Note("analysis/curves/few-trials", {"trials": 2, "fewest": 3})


def test_trials_of_few_transactions_say_that_no_second_mode_is_looked_for() -> None:
    source = np.random.default_rng(4)
    plan = plan_with(levels=("off",), blocks=3)
    drawn = mixture([(FAST, 0.5), (SLOW, 0.5)], 40)
    trials = [trial(p.block, p.arm, {"payment": scenario(drawn(source))}) for p in plan.trials]
    ((one,), _) = latency_modes(plan, trials)
    assert one.refused == Note("analysis/curves/few-transactions", {"each": 40.0, "least": 100})
    assert one.density


def single_arm(make: Mapping[str, object]) -> LatencyModes:
    source = np.random.default_rng(3)
    plan = plan_with(levels=("off",), blocks=4)
    trials = []
    for one in plan.trials:
        slow, fast = (mixture([(at, 1.0)], 3000)(source) for at in (SLOW, FAST))
        everything = np.r_[fast, slow[:600]]
        trials.append(
            trial(
                one.block,
                one.arm,
                {
                    "payment": scenario(everything, **make),  # type: ignore[arg-type]
                    "balance": scenario(fast),
                    "": scenario(np.r_[everything, fast]),
                },
            )
        )
    return latency_modes(plan, trials)[0][-1 if not make else 1]


def test_waits_are_of_transactions_that_certainly_lasted_so_long() -> None:
    waiting, running = (
        np.r_[np.full(10, 5.0), np.full(10, 0.5)],
        np.r_[np.full(5, 6.0), np.full(20, 0.5)],
    )
    ages = {"LWLock:WALWrite": on_grid(waiting), "CPU": on_grid(running)}
    found = single_arm({"ages": ages})
    fast, slow = found.modes
    assert fast.waits == ()
    assert [(w.event, round(w.share_pct.value)) for w in slow.waits] == [
        ("LWLock:WALWrite", 67),
        ("CPU", 33),
    ]
    assert slow.waits[0].otherwise_pct == pytest.approx(33.3, abs=0.1)


def test_too_few_sampled_sessions_name_no_wait() -> None:
    found = single_arm({"ages": {"CPU": on_grid(np.full(4, 7.0))}})
    assert found.modes[1].waits == ()


def test_more_slow_transactions_at_checkpoints_are_counted_in_points() -> None:
    during = np.r_[np.full(250, FAST), np.full(250, SLOW)]
    change = single_arm({"during": during}).modes[1].at_checkpoints_points
    assert change is not None
    # 50 % of the 500 at checkpoints, and 350 of the other 3 100.
    assert change.value == pytest.approx(50 - 11.3, abs=1.5)


def test_modes_of_all_scenarios_together_name_the_scenarios_they_are_of() -> None:
    everything = single_arm({})
    assert everything.scenario == ""
    fast, slow = everything.modes
    assert dict(slow.scenarios) == pytest.approx({"payment": 100.0, "balance": 0.0}, abs=0.5)
    assert fast.scenarios[0][1] == pytest.approx(50.0, abs=1.0)


def test_a_stored_trial_gives_every_latency_of_its_greatest_load(tmp_path: Path) -> None:
    text = SPEC.replace("clients = 8", "clients = [4, 8]")
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=text, blocks=1)
    stored = next(iter(run.trials()))
    found = read_latencies(stored)
    one = found.scenarios["payment"]
    steps = stored.summary().load.steps
    assert found.step == 8.0
    assert one.counts.sum() == steps[-1].transactions
    assert list(found.scenarios) == ["payment"]
    # The first arm's checkpoints lie in the warm-up and the first load.
    assert one.at_checkpoints.sum() == 0.0
    # Starts are stored rounded down: a transaction is certainly younger than the difference.
    assert START_STEP_NS > 10**6
    assert {"CPU", "LWLock:WALWrite"} <= set(one.ages)
    assert all(np.flatnonzero(counts).tolist() == [0] for counts in one.ages.values())
