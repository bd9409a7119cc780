"""A/A runs in which both labels take turns: what they tell of rounds, trials and blocks."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.switchback_errors import World, make_trials

from pgassay.analysis.analyse import analyse, rule_of
from pgassay.analysis.calibrate import with_noise
from pgassay.analysis.model import Analysis, StepMeasures, Verdict
from pgassay.analysis.power import Spreading, outlook
from pgassay.analysis.turn_noise import advise_turns, expected_of_turns, turn_noise
from pgassay.findings.calibration import calibration_findings
from pgassay.pipeline import answered
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.spec.parse import parse_spec
from pgassay.trials.alternating import slices_of

SPEC = """
[factors.postgres]
work_mem = {levels}
[load]
step = "32s"
[design]
mode = "switchback"
min_blocks = {least}
seed = 3
"""


def designed(least: int = 6, levels: str = '["4MB", "64MB"]', *, aa: bool = True) -> Plan:
    text = SPEC.format(least=least, levels=levels)
    return make_plan(parse_spec(text, source="s.toml", beside=Path()), calibrates=aa)


def calibrated(plan: Plan, whole_sd: float = 0.03) -> Analysis:
    source = np.random.default_rng(5)
    trials = make_trials(plan, World("identical", memory=0.5), source)[: plan.last_block]
    figures = np.exp(9.0 + whole_sd * source.standard_normal(len(trials)))
    trials = [
        replace(trial, whole=StepMeasures(None, 0, 1, 1, {"tps": float(figure)}))
        for trial, figure in zip(trials, figures, strict=True)
    ]
    overhead = {"started_ns": 0, "ended_ns": 40 * 10**9}
    return with_noise(analyse("?", plan, trials), plan, (), [overhead])


def test_an_aa_run_of_a_switchback_alternates_two_labels_of_the_baseline() -> None:
    spec = parse_spec(SPEC.format(least=6, levels='["4MB", "64MB"]'), source="s", beside=Path())
    plan = make_plan(spec, calibrates=True)
    assert (plan.mode, plan.held_mode) == ("switchback", "switchback")
    assert {trial.arm for trial in plan.trials} == {ALL_ARMS}
    assert plan_from_json(plan_to_json(plan)) == plan
    table, _ = slices_of(plan.trials[0], spec, plan)
    # The same happens at an edge as in the experiment: each label sets the baseline's value.
    assert [one.settings for one in table.variants] == [{"work_mem": "4MB"}] * 2
    assert next(block for block in range(1, 13) if answered(plan, block, [])) == 6


def test_it_tells_the_noise_of_rounds_and_what_a_switchback_would_find() -> None:
    analysis = calibrated(designed())
    found = analysis.calibration
    assert found is not None
    assert found.turns is not None
    assert {c.verdict for c in analysis.comparisons} == {Verdict.CALIBRATION}
    assert (found.turns.trials, found.turns.rounds) == (6, 3 * 16 + 3 * 32)
    # Two slices of 0.5 or 1 s, three quarters kept, each with 2 % a second and the host's 3 %.
    assert 0.02 < found.turns.round_sd < 0.08
    expected = found.turns.round_sd / math.sqrt(24)
    assert found.turns.trial_sd == pytest.approx(expected, rel=0.6)
    assert found.outlook.detectable is not None
    assert found.outlook.detectable < 0.05
    assert found.noise.trial_sd == pytest.approx(0.03, rel=0.7)
    floor = analysis.noise
    assert floor is not None
    assert floor.metrics == (), "nothing of it is the noise of trials in blocks"
    assert floor.turns is not None
    assert floor.turns.trial_sd == found.turns.trial_sd


def test_its_advice_compares_the_switchback_with_blocks() -> None:
    analysis = calibrated(designed())
    assert analysis.calibration is not None
    told = {f.title: f.text for f in calibration_findings(analysis.calibration, 0.02)}
    assert "of a round of slices differs by" in told["Noise floor"]
    assert "a switchback takes" in told["Advice"]
    assert "an arm per trial takes" in told["Advice"]
    assert "The switchback is the quicker one here." in told["Advice"]
    quiet = calibrated(designed(), whole_sd=0.0005).calibration
    assert quiet is not None
    told = {f.title: f.text for f in calibration_findings(quiet, 0.02)}
    assert "Scatter of trials" not in " ".join(told), "it cancels"


def test_more_arms_have_fewer_rounds_in_a_trial() -> None:
    two, four = designed(), designed(levels='["4MB", "8MB", "16MB", "64MB"]')
    noise = turn_noise(two, calibrated(two).trials)
    assert noise is not None
    few = expected_of_turns(noise, two.experiment())
    many = expected_of_turns(noise, four.experiment())
    assert many.difference_sd == pytest.approx(few.difference_sd * math.sqrt(2.0))
    fewer = advise_turns(noise, two.experiment(), 8.0)
    more = advise_turns(noise, four.experiment(), 8.0)
    assert fewer is not None
    assert more is not None
    assert more.blocks >= fewer.blocks


def test_blocks_that_tell_their_own_spread_decide_sooner() -> None:
    rule = rule_of(designed(4, aa=False))
    alone = outlook(rule, Spreading(0.01), 4, 12)
    inside = outlook(rule, Spreading(0.01, 20.0), 4, 12)
    assert alone.detectable is not None
    assert inside.detectable is not None
    assert inside.detectable < alone.detectable
