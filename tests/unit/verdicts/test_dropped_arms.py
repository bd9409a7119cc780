"""Arms whose verdicts are reached have no trials in the blocks that follow."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from bench.validate.whole_trials.false_positives import Rule, make_design, plan_of

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.gates.grammar import parse_gate
from pgassay.analysis.judge import after_block, answered, judge
from pgassay.analysis.model import Analysis, StepMeasures, TrialMeasures, Verdict
from pgassay.analysis.verdicts.left_out_trials import lost_trials
from pgassay.notes import legacy
from pgassay.plan.model import Plan
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from pgassay.trials.model.record import FailedTrial

PLAN = plan_of(Rule("6 to 24", 6, 24), 1, 3)


def trials_of(plan: Plan, until: int) -> Iterator[TrialMeasures]:
    """a2 is 20 % faster, which the first look finds; a3 is just at the margin, which none does."""
    source = np.random.default_rng(3)
    luck = dict(zip(PLAN.trials, source.normal(0.0, 0.015, len(PLAN.trials)), strict=True))
    gains = {"a1": 0.0, "a2": 0.2, "a3": 0.02}
    for block in range(1, until + 1):
        for trial in plan.block(block):
            step = StepMeasures(
                None, 0, 1, 1, {"tps": math.exp(9 + luck[trial] + gains[trial.arm])}
            )
            yield TrialMeasures(trial.number, block, trial.position, trial.arm, step, (), ())


def test_an_arm_is_dropped_when_its_verdict_is_reached_and_the_others_go_on() -> None:
    assert after_block(PLAN, 5, list(trials_of(PLAN, 5))) is PLAN
    after = after_block(PLAN, 6, list(trials_of(PLAN, 6)))
    assert after is not None
    assert after.dropped == {"a2": 6}
    assert [{trial.arm for trial in after.block(n)} for n in (6, 7)] == [
        {"a1", "a2", "a3"}, {"a1", "a3"},
    ]  # fmt: skip
    assert (after.sizes[6], after.sizes[7]) == (3, 2)


def test_the_verdict_of_a_dropped_arm_stays_as_it_was_and_the_other_has_all_blocks() -> None:
    after = replace(PLAN, dropped={"a2": 6})
    early = judge(PLAN, list(trials_of(PLAN, 6))).verdicts.verdicts()[0]
    late = Analysis(answer_of("?", after, list(trials_of(after, 9))))
    dropped, other = late.answer.verdicts()
    assert dropped == early
    assert (dropped.verdict, dropped.blocks, dropped.shared_by) == (Verdict.BETTER, 6, 2)
    assert (other.blocks, other.shared_by) == (9, 1)
    assert late.answer.blocks == 9
    assert not any(caveat.kind == "incomplete-block" for caveat in late.warnings)


def test_a_resumed_run_finds_the_same_and_a_stored_plan_keeps_it() -> None:
    after = replace(PLAN, dropped={"a2": 6})
    assert plan_from_json(json.loads(json.dumps(plan_to_json(after)))) == after
    assert same_design(after, PLAN)
    again = after_block(after, 6, list(trials_of(after, 6)))
    assert again == after
    assert not answered(after, 8, list(trials_of(after, 8)))


def test_a_run_ends_when_no_arm_is_left_to_compare() -> None:
    assert answered(replace(PLAN, dropped={"a2": 6, "a3": 7}), 8, list(trials_of(PLAN, 8)))


@pytest.mark.parametrize("kept", ["gates", "plots", "stopping"])
def test_all_arms_stay_for_gates_in_whole_plots_and_in_the_last_block(
    kept: str,
) -> None:
    plan = replace(PLAN, plots="split") if kept == "plots" else PLAN
    if kept == "stopping":
        plan = make_design(6, 6, 1, levels=3)
    if kept == "gates":
        plan = replace(PLAN, gates=(parse_gate("throughput>-30%"),))
    after = after_block(plan, 6, list(trials_of(plan, 6)))
    assert after is None or not after.dropped


def test_an_arm_that_was_dropped_had_fewer_trials_to_lose() -> None:
    lost = [FailedTrial(n, n, "a1", legacy("lost"), None) for n in (8, 10, 12, 14, 16, 18)]
    lost += [FailedTrial(n + 30, n, "a3", legacy("lost"), None) for n in (9,)]
    assert lost_trials(PLAN, [], lost).too_often == ("a1",)
    assert lost_trials(replace(PLAN, dropped={"a2": 6}), [], lost).too_often == ()
