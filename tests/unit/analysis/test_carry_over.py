"""Effects that outlast their slices: how they are found, and what is withdrawn for them."""

from __future__ import annotations

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, count, make_design, make_trials
from scipy import stats

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.alternating import carry_over as module
from pgassay.analysis.compare.model import CarryOver, CarryOverTest, Dependence
from pgassay.analysis.model import (
    Analysis,
    SliceMeasures,
    StepMeasures,
    TrialMeasures,
    Verdict,
)
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.switchback import rounds_of
from support.synthetic.designs import plan_of_spec

TWO_FACTORS = """
[factors.postgres]
work_mem = ["1MB", "2MB", "4MB"]
enable_sort = ["on", "off"]
[load]
step = "192s"
[design]
mode = "switchback"
slice = "4s"
seed = 1
min_blocks = 4
max_blocks = 4
"""


def test_an_effect_that_differs_between_trials_is_seldom_taken_for_carry_over() -> None:
    # Errors within trials alone found it in half of such runs.
    found = count(World("differs by 3 %", effect=0.05, between=0.03), 30, 4, 4, 32)
    assert found.carry_over <= 5
    assert found.withdrawn <= 5


def test_two_trials_cannot_tell_their_lengths_apart() -> None:
    plan = make_design(2, 2, 32, 1)
    trials = make_trials(plan, World("5 %", effect=0.05), np.random.default_rng(1))
    tests = {test.test: test for test in Analysis(answer_of("?", plan, trials)).answer.carry_over}
    assert tests[CarryOverTest.WITHIN].p is not None
    assert tests[CarryOverTest.LENGTH].p is None
    assert not tests[CarryOverTest.LENGTH].found


def test_lengths_are_compared_by_students_t_of_trials() -> None:
    plan = make_design(6, 6, 32, 1)
    trials = make_trials(plan, World("5 %", effect=0.05, between=0.01), np.random.default_rng(2))
    analysis = Analysis(answer_of("?", plan, trials))
    effects = np.log1p(np.array(analysis.answer.verdicts()[0].block_effects_pct) / 100.0)
    expected = stats.ttest_ind(effects[0::2], effects[1::2])
    (test,) = [one for one in analysis.answer.carry_over if one.test is CarryOverTest.LENGTH]
    assert test.p == pytest.approx(expected.pvalue, rel=1e-6)


def test_carry_over_found_at_one_look_stays_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_design(4, 12, 32, 1)
    trials = make_trials(plan, World("10 %", effect=0.1), np.random.default_rng(3))

    def only_after_five(plan: Plan, rounds: object, verdicts: object, after: int) -> list[object]:
        test = CarryOver(
            "synchronous_commit", "off", CarryOverTest.WITHIN, after, 1.0, 1.0, None, 0.5,
            found=after == 5, outweighs=after == 5, found_after=5 if after == 5 else None,
        )  # fmt: skip
        return [test]

    monkeypatch.setattr(module, "at_a_look", only_after_five)
    for last, withdrawn in ((4, False), (5, True), (6, True), (12, True)):
        analysis = Analysis(
            answer_of("?", plan, [trial for trial in trials if trial.block <= last])
        )
        (test,) = analysis.answer.carry_over
        assert test.first_pct == last, "the figures are of today"
        assert test.outweighs is withdrawn
        assert test.found_after == (5 if withdrawn else None)
        assert analysis.answer.decided() is not withdrawn
        told = [w.text for w in analysis.warnings if w.kind == "carry-over"]
        assert ["found after 5 blocks" in text for text in told] == [True] * withdrawn


def test_a_look_before_the_first_trial_that_counts_is_none() -> None:
    plan = make_design(4, 12, 32, 1)
    trials = make_trials(plan, World("10 %", effect=0.1), np.random.default_rng(3))
    late = [trial for trial in trials if 6 <= trial.block <= 8]
    assert Analysis(answer_of("?", plan, late)).answer.carry_over


def test_looks_at_which_a_run_could_not_have_ended_find_nothing() -> None:
    plan = make_design(4, 4, 32, 1)
    trials = make_trials(plan, World("10 %", effect=0.1, lasts_s=0.62), np.random.default_rng(4))
    tests = Analysis(answer_of("?", plan, trials)).answer.carry_over
    assert {test.found_after for test in tests} <= {None, 4}


def factorial_trials(plan: Plan, carried: float) -> list[TrialMeasures]:
    """Trials in which work_mem has an effect that begins late, enable_sort one at once."""
    source = np.random.default_rng(5)
    levels = {arm.id: arm.levels for arm in plan.arms}
    memory = {"1MB": 0.0, "2MB": 0.1, "4MB": 0.2}
    found = []
    for trial in plan.trials:
        turns = []
        for number, arms in enumerate(rounds_of(plan, trial)):
            for arm in arms:
                own = memory[levels[arm]["work_mem"]]
                at_once = 0.1 * (levels[arm]["enable_sort"] == "off")
                early, late = (
                    {"tps": float(np.exp(9.0 + at_once + share * own + source.normal(0, 0.005)))}
                    for share in (1.0 - carried, 1.0)
                )
                turns.append(SliceMeasures(number, arm, number, late, early, late))
        whole = StepMeasures(None, 0, 1, 1, {"tps": 1.0})
        found.append(
            TrialMeasures(trial.number, trial.block, 1, ALL_ARMS, whole, (), (), turns=tuple(turns))
        )
    return found


def test_carry_over_withdraws_all_that_its_factor_has_a_part_in() -> None:
    plan = plan_of_spec(TWO_FACTORS)
    sound = Analysis(answer_of("?", plan, factorial_trials(plan, 0.0)))
    assert sound.answer.trends[0].verdict is Verdict.BETTER
    assert {one.verdict for one in sound.answer.interactions} == {Dependence.INDEPENDENT}
    assert all(one.estimate.ci95_pct for one in sound.answer.simple_effects)
    assert all(one.estimate.ci95_pct for one in sound.answer.arm_effects)

    doubtful = Analysis(answer_of("?", plan, factorial_trials(plan, 0.9)))
    assert {test.factor for test in doubtful.answer.carry_over if test.outweighs} == {"work_mem"}
    verdicts = {(one.factor, one.verdict) for one in doubtful.answer.verdicts()}
    assert verdicts == {("work_mem", Verdict.UNDECIDED), ("enable_sort", Verdict.BETTER)}
    assert doubtful.answer.trends[0].verdict is Verdict.UNDECIDED
    assert {one.verdict for one in doubtful.answer.interactions} == {Dependence.UNDECIDED}
    assert all(one.estimate.ci95_pct is None for one in doubtful.answer.simple_effects)
    bare = {one.arm: one.estimate.ci95_pct is None for one in doubtful.answer.arm_effects}
    assert bare == {arm.id: arm.levels["work_mem"] != "1MB" for arm in plan.arms if arm.id in bare}
    assert doubtful.answer.trends[0].estimate.blocks_to_decide is None
