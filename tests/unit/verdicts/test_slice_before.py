"""Carry-over by whose slice came before: what is found, how surely; what a run does then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, count, make_design, make_trials
from scipy import special

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.alternating.carry_over import suspected
from pgassay.analysis.compare.alternating.slice_before import (
    AfterOwn,
    dilution,
    of_rounds,
    products,
)
from pgassay.analysis.compare.blocks.contrasts import round_table
from pgassay.analysis.compare.model import CarryOver, CarryOverTest, Withdrawn
from pgassay.analysis.model import Analysis, SliceMeasures, StepMeasures, TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.sequential import level_at, spent
from pgassay.findings.answer.verdicts import verdict_sentence
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.switchback import rounds_of

WEIGHTS = np.array([-1.0, 1.0])


def diluted(plan: Plan, effect: float, left: float, *, between: float = 0.0) -> list[TrialMeasures]:
    """Each slice has the share `left` of the arm before it, for the whole of its length."""
    source = np.random.default_rng(9)
    whole = StepMeasures(None, 0, 1, 1, {"tps": 1.0})
    found = []
    for trial in plan.trials:
        own = effect + between * source.standard_normal()
        turns: list[SliceMeasures] = []
        before = 0.0
        for number, arms in enumerate(rounds_of(plan, trial)):
            for arm in arms:
                now = own if arm == "a2" else 0.0
                felt = (1.0 - left) * now + left * before
                values = {"tps": float(np.exp(9.0 + felt + 0.002 * source.standard_normal()))}
                turns.append(SliceMeasures(number, arm, len(turns), values, values, values))
                before = now
        found.append(
            TrialMeasures(trial.number, trial.block, 1, ALL_ARMS, whole, (), (), turns=tuple(turns))
        )
    return found


def estimated(plan: Plan, trials: list[TrialMeasures]) -> AfterOwn | None:
    table = round_table(METRICS["tps"], trials, plan)
    return of_rounds(table, products(plan, trials, WEIGHTS), WEIGHTS)


def test_carry_over_from_the_slice_before_is_estimated_without_bias() -> None:
    plan = make_design(6, 6, 32, 1)
    found = estimated(plan, diluted(plan, 0.1, 0.3, between=0.05))
    assert found is not None
    assert found.spread.mean == pytest.approx(0.03, abs=0.02)
    alike = estimated(plan, diluted(plan, 0.1, 0.3))
    assert alike is not None
    assert alike.spread.mean == pytest.approx(0.03, abs=0.002)
    assert alike.same == pytest.approx(0.07, abs=0.002)
    assert alike.other == pytest.approx(0.04, abs=0.002)
    assert alike.spread.error is not None
    assert alike.spread.error < 0.002
    # The measured effect is short of the true one by so much of it.
    (verdict,) = Analysis(answer_of("?", plan, diluted(plan, 0.1, 0.3))).answer.verdicts()
    measured = np.log1p((verdict.effect_pct or 0.0) / 100.0)
    assert measured + dilution(plan) * alike.spread.mean == pytest.approx(0.1, abs=0.003)


def test_without_carry_over_an_effect_that_differs_between_trials_is_not_taken_for_it() -> None:
    plan = make_design(6, 6, 32, 1)
    found = estimated(plan, diluted(plan, 0.1, 0.0, between=0.05))
    assert found is not None
    assert found.spread.mean == pytest.approx(0.0, abs=0.002)


def test_rounds_left_out_keep_the_others_matched_with_the_slice_before_them() -> None:
    plan = make_design(4, 4, 32, 1)
    trials = diluted(plan, 0.1, 0.3)
    idle = [
        replace(
            trial,
            turns=tuple(replace(t, values={}) if t.round == 5 else t for t in trial.turns),
        )
        for trial in trials
    ]
    found = estimated(plan, idle)
    assert found is not None
    assert found.spread.mean == pytest.approx(0.03, abs=0.003)


def test_all_looks_together_spend_the_error_of_one() -> None:
    looks = list(range(4, 13))
    levels = [level_at(n, 0.05, looks) for n in looks]
    assert level_at(4, 0.05, [4]) == pytest.approx(0.05)
    assert levels[0] == pytest.approx(spent(4 / 12, 0.05))
    assert max(levels) < 0.05 < sum(levels), "less than each alone, more than if they were apart"
    assert level_at(3, 0.05, looks) == levels[0]
    assert level_at(13, 0.05, looks) == levels[-1]
    source = np.random.default_rng(1)
    sums = np.cumsum(source.standard_normal((20_000, 12)), axis=1) / np.sqrt(np.arange(1, 13))
    edges = -special.ndtri(np.array(levels) / 2)
    crossed = (np.abs(sums[:, 3:]) > edges).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.006)


def test_a_run_continues_while_carry_over_looks_likely_and_ends_once_it_is_found() -> None:
    plan = make_design(4, 12, 32, 1)
    source = np.random.default_rng(3)
    trials = make_trials(plan, World("a fifth", effect=0.1, lasts_s=0.62), source)
    states = []
    for block in range(4, 13):
        analysis = Analysis(
            answer_of("?", plan, [trial for trial in trials if trial.block <= block])
        )
        (verdict,) = analysis.answer.verdicts()
        states.append(
            (analysis.answer.carry_over_suspected, analysis.answer.may_end(), verdict.withdrawn)
        )
        if verdict.withdrawn is not None:
            break
    assert states[-1] == (False, True, Withdrawn.CARRY_OVER)
    assert len(states) < 9, "long before the last block"
    sentence = verdict_sentence(verdict, analysis)
    assert sentence.code == "findings/answer/verdicts/withdrawn.carry-over"
    assert not any(ends for suspects, ends, _ in states if suspects)


def outcome_of(test: CarryOverTest, first: float, second: float, p: float) -> CarryOver:
    apart = first - second
    return CarryOver("f", "l", test, first, second, apart, None, p, found=False, outweighs=False)


def test_only_what_makes_an_effect_smaller_is_suspected() -> None:
    before, within = CarryOverTest.BEFORE, CarryOverTest.WITHIN
    assert suspected([outcome_of(before, 6.0, 4.0, 0.1), outcome_of(within, 4.0, 6.0, 0.3)])
    assert suspected([outcome_of(before, -6.0, -4.0, 0.1), outcome_of(within, -4.0, -6.0, 0.3)])
    assert not suspected([outcome_of(before, 4.0, 6.0, 0.1), outcome_of(within, 6.0, 4.0, 0.3)])
    assert not suspected([outcome_of(before, 6.0, 4.0, 0.1), outcome_of(within, 6.0, 4.0, 0.1)])
    # Trials of unlike effects say nothing of it.
    assert not suspected([outcome_of(CarryOverTest.LENGTH, 4.0, 6.0, 0.001)])


def test_a_strong_carry_over_seldom_ends_in_a_verdict_that_is_too_small() -> None:
    found = count(World("a fifth", effect=0.1, lasts_s=0.62), 12, 4, 12, 32)
    assert found.withdrawn >= 11
    assert found.different + found.equivalent <= 1
    nothing = count(World("none", effect=0.1), 12, 4, 12, 32)
    assert nothing.different >= 11
    assert nothing.blocks <= 12 * 7
