"""A/A runs in which both labels take turns: what they tell of rounds, trials and blocks."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, make_trials

from pgassay.analysis.analyse import answer_of, noise_of
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.simulated_runs import Spreading
from pgassay.analysis.judge import answered
from pgassay.analysis.model import Analysis, StepMeasures, Verdict
from pgassay.analysis.noise.model import Calibration, SwitchbackNoise
from pgassay.analysis.noise.power import outlook
from pgassay.analysis.noise.switchback_noise import (
    advise_switchback,
    expected_of_switchback,
    spreading,
    switchback_noise,
)
from pgassay.findings.noise.aa_run import calibration_findings
from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.spec.parse import parse_spec
from pgassay.trials.load.slices import slices_of
from pgassay.trials.run.testbeds import testbeds_of
from support.notes import codes_in
from support.synthetic.designs import plan_of_spec
from support.synthetic.stored_trials import trial_file

pytestmark = pytest.mark.slow
RULE = "findings/noise/aa_run/"

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
    return plan_of_spec(text, calibrates=aa)


DUET = """
[factors.postgres]
max_connections = [50, 100{more}]
[load]
step = "{seconds}s"
warmup = "2s"
[design]
mode = "duet"
min_blocks = {least}
{most}
seed = 3
"""


def duet(least: int = 12, seconds: int = 32, more: str = "", most: str = "max_blocks = 24") -> Plan:
    text = DUET.format(least=least, seconds=seconds, more=more, most=most)
    return plan_of_spec(text, calibrates=True)


def calibrated(plan: Plan, whole_sd: float = 0.03, luck: float = 0.0) -> Analysis:
    source = np.random.default_rng(5)
    world = World("identical", memory=0.5, between=luck)
    trials = make_trials(plan, world, source)[: plan.last_block]
    figures = np.exp(9.0 + whole_sd * source.standard_normal(len(trials)))
    trials = [
        replace(trial, whole=StepMeasures(None, 0, 1, 1, {"tps": float(figure)}))
        for trial, figure in zip(trials, figures, strict=True)
    ]
    overhead = trial_file(started_ns=0, ended_ns=40 * 10**9)
    answer = answer_of("?", plan, trials)
    return Analysis(answer, noise=noise_of(plan, answer, (), [overhead]))


def said_of(found: Calibration) -> dict[str, list[str]]:
    """Title of a finding → the codes of its claim."""
    return {f.heading: codes_in(f.claim) for f in calibration_findings(found, 0.02)}


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


def test_an_aa_switchback_reports_the_noise_of_rounds_and_what_the_switchback_can_detect() -> None:
    analysis = calibrated(designed())
    found = analysis.noise.calibration
    assert found is not None
    assert found.turns is not None
    assert {c.verdict for c in analysis.answer.comparisons} == {Verdict.CALIBRATION}
    assert (found.turns.trials, found.turns.rounds) == (6, 2 * 16 + 2 * 32 + 2 * 5)
    # Two slices of 0.5 or 1 s, three quarters kept, each with 2 % a second and the host's 3 %.
    assert 0.02 < found.turns.round_sd < 0.08
    expected = found.turns.round_sd / math.sqrt(24)
    assert found.turns.trial_sd == pytest.approx(expected, rel=0.6)
    assert found.outlook.detectable is not None
    assert found.outlook.detectable < 0.05
    assert found.noise.trial_sd == pytest.approx(0.03, rel=0.7)
    floor = analysis.noise.floor
    assert floor is not None
    assert floor.metrics == (), "nothing of it is the noise of trials in blocks"
    assert floor.turns is not None
    assert floor.turns.trial_sd == found.turns.trial_sd


def test_its_advice_compares_the_switchback_with_blocks() -> None:
    analysis = calibrated(designed())
    assert analysis.noise.calibration is not None
    said = said_of(analysis.noise.calibration)
    assert said["Noise"][0] == f"{RULE}noise.switchback"
    assert said["Advice"] == [
        f"{RULE}advice_of_switchback.{name}" for name in ("text", "own", "blocks", "switchback")
    ]
    quiet = calibrated(designed(), whole_sd=0.0005).noise.calibration
    assert quiet is not None
    assert not any("spread" in code for codes in said_of(quiet).values() for code in codes)


def test_more_arms_have_fewer_rounds_in_a_trial() -> None:
    two, four = designed(), designed(levels='["4MB", "8MB", "16MB", "64MB"]')
    noise = switchback_noise(two, calibrated(two).answer.trials)
    assert noise is not None
    few = expected_of_switchback(noise, two.experiment())
    many = expected_of_switchback(noise, four.experiment())
    assert many.difference_sd == pytest.approx(few.difference_sd * math.sqrt(2.0))
    fewer = advise_switchback(noise, two.experiment(), 8.0)
    more = advise_switchback(noise, four.experiment(), 8.0)
    assert fewer is not None
    assert more is not None
    assert more.blocks >= fewer.blocks


def test_blocks_that_tell_their_own_spread_decide_sooner() -> None:
    rule = rule_of(designed(4, aa=False))
    alone = outlook(rule, Spreading(0.01), 4, 12)
    inside = outlook(rule, Spreading(0.01, 20.0), 4, 12)
    assert inside.if_different.blocks is not None
    assert alone.if_different.blocks is not None
    assert inside.if_different.blocks < alone.if_different.blocks


def test_an_aa_run_of_a_duet_has_two_servers_of_the_baseline() -> None:
    text = DUET.format(least=6, seconds=32, more="", most="max_blocks = 24")
    spec = parse_spec(text, source="d.toml", beside=Path())
    plan = make_plan(spec, calibrates=True)
    assert (plan.mode, plan.held_mode) == ("duet", "duet")
    assert plan_from_json(plan_to_json(plan)) == plan
    grounds = testbeds_of(spec, plan)
    assert len({grounds.of_arm[arm.id] for arm in plan.arms}) == 2
    experiment = make_plan(spec)
    assert plan.trial_s == experiment.trial_s, "two servers here and there"
    assert duet(more=", 200").trial_s == duet().trial_s, "three there, two here"


def test_a_duet_separates_the_scatter_of_starts_from_that_of_seconds() -> None:
    found = calibrated(duet(24), luck=0.02).noise.calibration
    assert found is not None
    assert found.turns is not None
    # One of the two servers has that luck in these worlds.
    start_sd = found.turns.start_sd
    assert start_sd is not None
    assert start_sd == pytest.approx(0.02, rel=0.4)
    assert found.turns.trial_sd > start_sd
    assert found.turns.units == 1.0
    low, high = found.turns.trial_sd_ci95 or (0.0, 0.0)
    assert low < 0.02 < high
    said = said_of(found)
    assert said["Noise"][0] == f"{RULE}noise.duet"
    assert f"{RULE}noise.starts" in said["Noise"]
    assert said["Advice"] == [f"{RULE}advice_of_duet.text", f"{RULE}advice.optimum"]
    alike = calibrated(duet(24)).noise.calibration
    assert alike is not None
    assert alike.turns is not None
    assert (alike.turns.start_sd or 0.0) < 0.005


def test_variable_starts_favour_more_and_shorter_trials_of_a_duet() -> None:
    experiment = duet().experiment()

    def length(start_sd: float, rounds_sd: float, overhead_s: float) -> float:
        sd = math.hypot(start_sd, rounds_sd)
        noise = SwitchbackNoise(500, 12, 0.05, sd, 1.0, start_sd=start_sd)
        advised = advise_switchback(noise, experiment, overhead_s)
        assert advised is not None
        return advised.trial_s

    assert length(0.01, 0.002, 5.0) < length(0.001, 0.03, 5.0)
    assert length(0.005, 0.01, 2.0) < length(0.005, 0.01, 200.0)
    assert length(0.03, 0.001, 5.0) >= 2 * 8 * 1.0, "a trial has eight rounds or more"


def test_a_duet_of_three_takes_three_resets_a_trial() -> None:
    two, three = (
        calibrated(duet()).noise.calibration,
        calibrated(duet(more=", 200")).noise.calibration,
    )
    assert two is not None
    assert three is not None
    # 40 s of which 32 are measured; the warm-up of 2 s is all servers' at once.
    assert two.overhead_s == pytest.approx(8.0)
    assert three.overhead_s == pytest.approx(2.0 + 1.5 * 6.0)
    assert three.block_s - two.block_s == pytest.approx(3.0)


def test_more_arms_have_fewer_rounds_and_the_same_scatter_of_starts() -> None:
    two, four = duet().experiment(), duet(more=", 200, 300").experiment()

    def difference(plan: Plan, start_sd: float, rounds_sd: float) -> float:
        return spreading(math.hypot(start_sd, rounds_sd), 1.0, plan, start_sd).sd

    assert difference(four, 0.02, 0.0) == pytest.approx(difference(two, 0.02, 0.0))
    assert difference(four, 0.0, 0.02) == pytest.approx(math.sqrt(2) * difference(two, 0.0, 0.02))


@pytest.mark.parametrize(
    ("least", "lines", "fewest", "most"),
    [
        (4, "max_blocks = 4", 6, 200),
        (6, "max_blocks = 12\nstopping = 'group-sequential'\nlooks = [6, 12]", 6, 12),
    ],
)
def test_a_duets_advice_is_for_trials_that_its_design_may_have(
    least: int, lines: str, fewest: int, most: int
) -> None:
    experiment = duet(least, most=lines).experiment()
    quiet, noisy = (SwitchbackNoise(500, 12, 0.05, sd, 1.0, start_sd=0.0) for sd in (0.0005, 0.012))
    soonest = advise_switchback(quiet, experiment, 5.0)
    assert soonest is not None
    assert soonest.blocks == fewest
    later = advise_switchback(noisy, experiment, 5.0)
    assert later is None or fewest <= later.blocks <= most


def test_few_trials_advise_no_other_length_and_say_what_they_cannot_tell() -> None:
    found = calibrated(duet(6)).noise.calibration
    assert found is not None
    assert found.turns is not None
    assert found.advice_in_turns is not None
    assert found.advice_in_turns.trial_s == 32.0
    unknown = replace(found, turns=replace(found.turns, start_sd=0.0))
    assert f"{RULE}noise.no_starts" in said_of(unknown)["Noise"]


def test_advice_that_there_is_none_says_within_how_many_and_of_which_lengths() -> None:
    few, many = (calibrated(duet(least)).noise.calibration for least in (6, 12))
    assert few is not None
    assert many is not None
    for found, within, form in ((few, 200, "none_of_this"), (many, 24, "none")):
        none = replace(found, advice_in_turns=None, advised_within=within)
        (advice,) = (
            f.claim
            for f in calibration_findings(none, 0.02)
            if f.title == Note(f"{RULE}advice.title")
        )
        values = {"margin": 2.0, "most": within, "length": 32.0, "enough": 12}
        assert advice == Note(f"{RULE}advice_of_duet.{form}", values)


def test_a_design_that_finds_nothing_makes_no_host_fit() -> None:
    found = calibrated(duet(6)).noise.calibration
    assert found is not None
    blind = replace(found, outlook=replace(found.outlook, detectable=None), ci95_pct=None)
    said = said_of(blind)
    assert said["Fitness: unfit"][0] == f"{RULE}fitness.unfit"
    check = "findings/noise/fitness/check"
    assert said["Detectable effect: unfit"][-1] == f"{check}.detectable.none"
    assert said["A/A interval: unfit"][-1] == f"{check}.interval.none"


@pytest.mark.parametrize("memory", [0.0, 0.95])
def test_the_interval_of_a_switchbacks_noise_holds(memory: float) -> None:
    plan, world = designed(8), World("identical", memory=memory)
    source = np.random.default_rng(11)
    floors = []
    for _ in range(80):
        floor = switchback_noise(plan, make_trials(plan, world, source)[:8])
        assert floor is not None
        floors.append(floor)
    # Rounds alternate between slices of 1 s and of half a second, so trials scatter by two figures.
    truth = math.sqrt(float(np.mean([floor.trial_sd**2 for floor in floors])))
    covers = [low <= truth <= high for low, high in (one.trial_sd_ci95 or (0, 0) for one in floors)]
    assert np.mean(covers) >= 0.9


def test_a_duet_of_two_trials_says_that_it_is_too_small() -> None:
    analysis = calibrated(duet(2))
    assert analysis.noise.calibration is None
    assert any(doubt.kind == "calibration" for doubt in analysis.warnings)
