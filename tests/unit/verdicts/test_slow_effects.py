"""Equivalence in a switchback: only where slow effects lie inside the margin too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, each_trial, make_design, make_trials
from bench.validate.looks import conclude

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.alternating.turns import TIMES_S, Turns
from pgassay.analysis.model import Analysis, Answer, Verdict, Withdrawn
from pgassay.analysis.verdicts.withdrawal import Withdrawal, withdraw_verdicts
from pgassay.findings.answer.verdicts import verdict_sentence
from pgassay.findings.wording import slow_range
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.plan.switchback import rounds_of
from pgassay.spec.parse import parse_spec
from support.synthetic.designs import plan_of_spec


def ended(world: World, seed: int, least: int = 4, most: int = 24, step_s: int = 60) -> Answer:
    plan = make_design(least, most, step_s, seed)
    return conclude(plan, each_trial(plan, world, np.random.default_rng(seed)))[0]


def test_identical_arms_are_called_equivalent_within_the_default_number_of_trials() -> None:
    verdicts = [ended(World("none"), seed).verdicts()[0] for seed in range(24)]
    assert sum(one.verdict is Verdict.EQUIVALENT for one in verdicts) >= 19
    inside = [one.slow_ci90_pct for one in verdicts if one.verdict is Verdict.EQUIVALENT]
    assert all(ends is not None and -2.0 < ends[0] < ends[1] < 2.0 for ends in inside)


@pytest.mark.parametrize("lasts_s", [0.25, 1.0, 4.0])
def test_a_slow_effect_of_three_per_cent_is_not_called_equivalent(lasts_s: float) -> None:
    world = World("slow", effect=0.03, lasts_s=lasts_s)
    verdicts = [ended(world, seed).verdicts()[0].verdict for seed in range(4)]
    assert not {Verdict.EQUIVALENT, Verdict.NEGLIGIBLE} & set(verdicts)


def test_short_slices_withhold_the_verdict_and_say_why() -> None:
    analysis = ended(World("none"), 1, least=6, most=6, step_s=32)
    (verdict,) = analysis.verdicts()
    assert (verdict.verdict, verdict.withdrawn) == (Verdict.UNDECIDED, Withdrawn.SLOW_EFFECTS)
    assert not verdict.withdrawn_for_good, "more trials may decide"
    assert verdict.slow_ci90_pct is not None
    low, high = verdict.slow_ci90_pct
    assert low < -2.0 or high > 2.0
    sentence = verdict_sentence(verdict, Analysis(analysis))
    assert sentence.code == "findings/answer/verdicts/withdrawn.slow-effects"
    assert sentence.values["slow"] == slow_range(verdict, analysis.smallest_effect)


def test_carry_over_that_is_found_is_the_reason_that_stays() -> None:
    (verdict,) = ended(World("none"), 1, least=6, most=6, step_s=32).verdicts()
    level = (verdict.factor, verdict.level)
    (found,) = withdraw_verdicts([verdict], {level: Withdrawal(Withdrawn.CARRY_OVER, True)})
    assert (found.withdrawn, found.withdrawn_for_good) == (Withdrawn.CARRY_OVER, True)
    idle = replace(verdict, withdrawn=Withdrawn.STANDSTILL)
    (kept,) = withdraw_verdicts([idle], {level: Withdrawal(Withdrawn.CARRY_OVER, True)})
    assert kept.withdrawn is Withdrawn.STANDSTILL


def test_an_effect_that_ends_with_its_slice_shows_whole_in_every_round() -> None:
    plan = make_design(4, 24, 60, 3)
    turns = Turns.of(plan, make_trials(plan, World("any"), np.random.default_rng(1)))
    shares = turns.shares(np.array([-1.0, 1.0]))
    assert shares.shape == (len(TIMES_S), sum(len(rounds_of(plan, t)) for t in plan.trials))
    assert shares[0] == pytest.approx(1.0)
    assert (np.diff(shares.mean(axis=1)) < 0.0).all(), "the slower, the less"
    long = turns.lengths() == 6.0
    assert shares[-1][long].mean() > 3 * shares[-1][~long].mean()


@pytest.mark.parametrize("time_s", TIMES_S[1:])
def test_the_share_of_a_round_is_that_of_an_exponential_response(time_s: float) -> None:
    """Against a simulation in steps of a hundredth of the slice."""
    text = "[factors.postgres]\nwork_mem = ['1MB', '2MB', '4MB']\n[load]\nstep = '24s'\n"
    text += "[design]\nmode = 'switchback'\nmin_blocks = 2\nmax_blocks = 2\n"
    plan = plan_of_spec(text)
    weights = np.array([-1.0, 0.0, 1.0])
    fine = _response(plan, weights, time_s)
    turns = Turns.of(plan, make_trials(plan, World("any", arms=3), np.random.default_rng(1)))
    assert turns.shares(weights)[TIMES_S.index(time_s)] == pytest.approx(fine, abs=0.01)


def _response(plan: Plan, weights: np.ndarray, time_s: float) -> list[float]:
    number = {arm.id: at for at, arm in enumerate(plan.arms)}
    found, parts = [], 400
    for trial in plan.trials:
        felt, step_s = 0.0, (trial.slice_s or 1.0) / parts
        for arms in rounds_of(plan, trial):
            total = 0.0
            for arm in arms:
                aim, seen = weights[number[arm]], []
                for _ in range(parts):
                    felt += (aim - felt) * (1.0 - np.exp(-step_s / time_s))
                    seen.append(felt)
                total += aim * float(np.mean(seen[parts // 4 :]))
            found.append(total / float(weights @ weights))
    return found


def test_an_aa_run_withholds_nothing() -> None:
    plan = make_plan(
        parse_spec(
            "[factors.postgres]\nwork_mem = ['1MB', '2MB']\n[load]\nstep = '32s'\n"
            "[design]\nmode = 'switchback'\nmin_blocks = 4\nmax_blocks = 4\n",
            source="x",
            beside=Path(),
        ),
        calibrates=True,
    )
    (verdict,) = Analysis(
        answer_of("?", plan, make_trials(plan, World("none"), np.random.default_rng(2)))
    ).answer.verdicts()
    assert (verdict.verdict, verdict.withdrawn) == (Verdict.CALIBRATION, None)
