"""Comparisons are checked against known answers and against what must not matter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.estimate import estimate
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.model import (
    Analysis,
    Caveat,
    Comparison,
    IntervalKind,
    StepMeasures,
    TrialMeasures,
    Verdict,
)
from pgassay.analysis.statistics.multiple_testing import sign_flip_p
from pgassay.notes import Note, Value, legacy
from pgassay.plan.model import Plan
from support.synthetic.designs import plan_of_levels, plan_of_spec

Blocks = list[tuple[float, float]]
# Measurements vary: to the digit a difference may be any, but not the same in all blocks.
pairs = st.lists(
    st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)), min_size=5, max_size=12
).filter(lambda blocks: np.std([a - b for a, b in blocks]) > 1e-4)


def trials_of(
    plan: Plan, log_values: dict[str, list[float]], metric: str = "tps"
) -> list[TrialMeasures]:
    """Trials whose metric is exp of the given values, by arm and block."""
    found = []
    for trial in plan.trials:
        values = log_values[trial.arm]
        if trial.block <= len(values):
            whole = StepMeasures(None, 0, 1, 1, {metric: math.exp(values[trial.block - 1])})
            found.append(
                TrialMeasures(trial.number, trial.block, trial.position, trial.arm, whole, (), ())
            )
    return found


def analysis_of(plan: Plan, log_values: dict[str, list[float]], metric: str = "tps") -> Analysis:
    return Analysis(answer_of("?", plan, trials_of(plan, log_values, metric)))


def test_interval_and_p_are_those_of_least_squares_with_block_arm_and_position() -> None:
    base = [8.0, 8.1, 7.9, 8.0, 8.05, 7.95]
    level = [8.1, 8.15, 8.02, 8.07, 8.2, 8.01]
    plan = plan_of_levels()
    (verdict,) = analysis_of(plan, {"a1": base, "a2": level}).answer.verdicts()
    second = np.array([next(t.arm for t in plan.block(b)) == "a1" for b in range(1, 7)])
    design = np.column_stack([np.ones(6), np.where(second, 1.0, -1.0)])
    fit, squares, _, _ = np.linalg.lstsq(design, np.subtract(level, base))
    error = math.sqrt(squares[0] / 4 * np.linalg.inv(design.T @ design)[0, 0])
    low, high = stats.t.interval(0.95, 4, fit[0], error)
    assert verdict.ci95_pct == pytest.approx([100 * math.expm1(low), 100 * math.expm1(high)])
    assert verdict.effect_pct == pytest.approx(100 * math.expm1(fit[0]))
    assert verdict.p_t == pytest.approx(2 * stats.t.sf(abs(fit[0]) / error, 4))
    assert verdict.p_sign_flip == 2 / 2**6
    assert verdict.verdict is Verdict.BETTER


def test_p_and_interval_are_those_of_the_effects_by_block_which_also_stand_as_measured() -> None:
    base = [8.0, 8.1, 7.9, 8.0, 8.05, 7.95]
    level = [8.1, 8.15, 7.8, 8.07, 8.2, 8.01]
    (verdict,) = analysis_of(plan_of_levels(), {"a1": base, "a2": level}).answer.verdicts()
    raw = np.log1p(np.array(verdict.block_raw_pct) / 100)
    np.testing.assert_allclose(raw, np.subtract(level, base), atol=1e-12)
    shown = np.log1p(np.array(verdict.block_effects_pct) / 100)
    assert 100 * math.expm1(shown.mean()) == pytest.approx(verdict.effect_pct)
    assert verdict.standard_error == pytest.approx(shown.std(ddof=1) / math.sqrt(6))
    signs = np.array(list(itertools.product((1, -1), repeat=6)))
    t = np.abs((signs * shown).mean(axis=1)) / (signs * shown).std(axis=1, ddof=1)
    own = abs(shown.mean()) / shown.std(ddof=1)
    assert verdict.p_sign_flip == pytest.approx(np.mean(t >= own * (1 - 1e-9)))


def test_three_levels_are_compared_by_least_squares_with_positions_of_all() -> None:
    plan = plan_of_levels(("1GB", "2GB", "3GB"), least=8)
    source = np.random.default_rng(3)
    trials = [
        replace(t, whole=StepMeasures(None, 0, 1, 1, {"tps": math.exp(8 + 0.02 * t.position + e)}))
        for t, e in zip(
            trials_of(plan, {arm.id: [0.0] * 8 for arm in plan.arms}),
            0.005 * source.standard_normal(24),
            strict=True,
        )
    ]
    first, _ = Analysis(answer_of("?", plan, trials)).answer.verdicts()
    rows = np.array([[t.block, int(t.arm[1:]), t.position] for t in trials])
    dummies = [
        (rows[:, column] == value).astype(float)
        for column, values in ((0, range(1, 9)), (1, (2, 3)), (2, (2, 3)))
        for value in values
    ]
    known = np.linalg.lstsq(
        np.column_stack(dummies), np.log([t.whole.values["tps"] for t in trials])
    )[0]
    assert first.effect_pct == pytest.approx(100 * math.expm1(known[8]))
    assert first.ci95_pct is not None
    assert first.ci95_pct[1] - first.ci95_pct[0] < 3.0, "the trend over positions is taken out"


@pytest.mark.parametrize("levels", [("1GB", "2GB"), ("1GB", "2GB", "3GB")])
def test_a_trend_over_positions_moves_no_effect_and_is_reported(levels: tuple[str, ...]) -> None:
    plan = plan_of_levels(levels)
    source = np.random.default_rng(5)
    flat = trials_of(
        plan, {arm.id: list(8 + 0.002 * source.standard_normal(6)) for arm in plan.arms}
    )

    def drifting(share: float) -> Analysis:
        moved = []
        for t in flat:
            tps = t.whole.values["tps"] * math.exp(share * t.position)
            moved.append(replace(t, whole=StepMeasures(None, 0, 1, 1, {"tps": tps})))
        return Analysis(answer_of("?", plan, moved))

    still, moving = drifting(0.0), drifting(0.02)
    for one, other in zip(still.answer.verdicts(), moving.answer.verdicts(), strict=True):
        assert other.effect_pct == pytest.approx(one.effect_pct)
        assert other.ci95_pct == pytest.approx(one.ci95_pct)
    assert not [w for w in still.warnings if w.kind == "position"]
    (caveat,) = [w for w in moving.warnings if w.kind == "position"]
    assert ("+2." if len(levels) == 3 else "−2.") in caveat.text


def test_a_run_whose_orders_are_all_the_same_is_not_adjusted() -> None:
    plan = plan_of_levels()
    trials = trials_of(plan, {"a1": [8.0, 8.01, 8.02, 8.0, 8.01, 8.0], "a2": [8.1] * 6})
    same = [replace(t, position=1 if t.arm == "a1" else 2) for t in trials]
    (verdict,) = Analysis(answer_of("?", plan, same)).answer.verdicts()
    known = stats.ttest_rel([8.1] * 6, [8.0, 8.01, 8.02, 8.0, 8.01, 8.0])
    assert verdict.p_t == pytest.approx(known.pvalue)


def test_six_blocks_all_one_way_have_the_smallest_sign_flip_p_there_is() -> None:
    assert sign_flip_p(np.array([0.1, 0.2, 0.1, 0.3, 0.2, 0.1])) == 2 / 2**6
    assert sign_flip_p(np.array([0.1, -0.1])) == 1.0
    assert sign_flip_p(np.zeros(5)) == 1.0
    assert sign_flip_p(np.array([0.1])) is None


def test_the_exact_sign_flip_p_is_that_of_counting_every_pattern() -> None:
    differences = np.random.default_rng(4).normal(0.3, 1.0, 9)
    signs = np.array([[1 if code >> bit & 1 else -1 for bit in range(9)] for code in range(512)])
    means = np.abs((signs * differences).mean(axis=1))
    assert sign_flip_p(differences) == pytest.approx(
        np.mean(means >= abs(differences.mean()) - 1e-12)
    )


def verdict_of(plan: Plan, base: Sequence[float], level: Sequence[float]) -> Comparison:
    (verdict,) = analysis_of(plan, {"a1": list(base), "a2": list(level)}).answer.verdicts()
    return verdict


def said(verdict: Comparison) -> list[float]:
    """Its figures: the effect and its bounds as logarithms, then what speaks for them."""
    low, high = verdict.ci95_pct or (None, None)
    effect = [None if x is None else math.log1p(x / 100) for x in (verdict.effect_pct, low, high)]
    found = [*effect, verdict.p_t, verdict.p_sign_flip, verdict.p_looks]
    return [0.0 if x is None else x for x in found]


@settings(max_examples=30)
@given(pairs, st.booleans())
def test_swapping_the_arms_mirrors_every_figure(blocks: Blocks, fixed: bool) -> None:
    base, level = zip(*blocks, strict=True)
    plan = plan_of_levels(least=len(blocks) if fixed else 3, most=len(blocks))
    one, other = verdict_of(plan, base, level), verdict_of(plan, level, base)
    effect, low, high, *evidence = said(other)
    mirrored = [None if x is None else -x for x in (effect, high, low)]
    assert said(one) == pytest.approx([*mirrored, *evidence], rel=1e-6, abs=1e-9)
    sides = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    if abs(effect or 0.0) > 0.05:  # margins are shares of the baseline: 2 % up are 1.96 % down
        assert other.verdict is sides.get(one.verdict, one.verdict)


@settings(max_examples=30)
@given(pairs, st.floats(0.01, 100.0))
def test_the_unit_of_measurement_does_not_matter(blocks: Blocks, factor: float) -> None:
    base, level = zip(*blocks, strict=True)
    plan, shift = plan_of_levels(least=3, most=len(blocks)), math.log(factor)
    one = verdict_of(plan, base, level)
    other = verdict_of(plan, [x + shift for x in base], [x + shift for x in level])
    assert said(other) == pytest.approx(said(one), rel=1e-5, abs=1e-9)
    assert other.verdict is one.verdict


@settings(max_examples=30)
@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_blocks_does_not_matter(blocks: Blocks, source: Random) -> None:
    plan, places = plan_of_levels(least=len(blocks)), list(range(1, len(blocks) + 1))
    source.shuffle(places)
    base, level = zip(*blocks, strict=True)
    trials = trials_of(plan, {"a1": list(base), "a2": list(level)})
    moved = [replace(trial, block=places[trial.block - 1]) for trial in trials]
    (one,), (other,) = (
        Analysis(answer_of("?", plan, each)).answer.verdicts() for each in (trials, moved)
    )
    assert said(other) == pytest.approx(said(one), rel=1e-6, abs=1e-9)
    assert other.verdict is one.verdict


@pytest.mark.parametrize("around", [0.5, 0.0])
@pytest.mark.parametrize("kind", list(IntervalKind))
def test_blocks_that_happen_to_agree_decide_nothing_below_four(
    kind: IntervalKind, around: float
) -> None:
    rule = Rule(kind, 0.02, 1, tuple(range(2, 25)))
    agreeing = around + 1e-6 * np.array([1.0, -1.0, 2.0, -2.0, 1.0, -1.0, 2.0, -2.0])
    for blocks in (2, 3):
        few = estimate(agreeing[:blocks], (-0.02, 0.02), rule)
        assert not few.differs
        assert not few.inside
    enough = estimate(agreeing, (-0.02, 0.02), rule)
    assert enough.differs or enough.inside


def test_a_tiny_sure_difference_is_negligible_and_none_is_equivalent() -> None:
    wobble = [0.0005, -0.0004, 0.0003, -0.0005, 0.0004, -0.0002]
    base = [8.0] * 6
    small = [8.005 + w for w in wobble]
    none = [8.0 + w for w in wobble]
    assert (
        analysis_of(plan_of_levels(), {"a1": base, "a2": small}).answer.verdicts()[0].verdict
        is Verdict.NEGLIGIBLE
    )
    assert (
        analysis_of(plan_of_levels(), {"a1": base, "a2": none}).answer.verdicts()[0].verdict
        is Verdict.EQUIVALENT
    )


def test_noise_is_undecided_and_says_how_many_more_blocks() -> None:
    level = [8.08, 7.99, 8.05, 7.97, 8.06, 8.01]
    (verdict,) = analysis_of(plan_of_levels(), {"a1": [8.0] * 6, "a2": level}).answer.verdicts()
    assert verdict.verdict is Verdict.UNDECIDED
    assert verdict.blocks_to_decide is not None
    assert verdict.blocks_to_decide > 0


def test_lower_is_better_for_latency() -> None:
    text = "[factors.postgres]\nfsync = ['on', 'off']\n[design]\nmetric = 'latency_p99'\nseed = 1\n"
    text += "min_blocks = 6\nmax_blocks = 6"
    plan = plan_of_spec(text)
    wobble = [0.001, -0.001, 0.002, -0.002, 0.001, 0.0]
    (verdict,) = analysis_of(
        plan, {"a1": [1.0] * 6, "a2": [0.8 + w for w in wobble]}, "latency_p99"
    ).answer.verdicts()
    assert verdict.verdict is Verdict.BETTER
    assert verdict.effect_pct is not None
    assert verdict.effect_pct < 0


def test_three_levels_share_the_error_between_them() -> None:
    source = np.random.default_rng(2)
    values = {arm: list(8.0 + 0.01 * source.standard_normal(6)) for arm in ("a1", "a2", "a3")}
    three = analysis_of(plan_of_levels(("1GB", "2GB", "3GB")), values)
    two = analysis_of(plan_of_levels(), {"a1": values["a1"], "a2": values["a2"]})
    assert three.answer.simultaneous == 2
    assert two.answer.simultaneous == 1
    rule = rule_of(plan_of_levels(("1GB", "2GB", "3GB")))
    assert rule.critical(6, 5.0, 0.05) == pytest.approx(stats.t.ppf(1 - 0.05 / 4, 4))


def test_a_sequential_run_reports_a_confidence_sequence() -> None:
    values = {"a1": [8.0] * 6, "a2": [8.1, 8.12, 8.11, 8.09, 8.13, 8.1]}
    fixed = analysis_of(plan_of_levels(), values)
    sequential = analysis_of(plan_of_levels(most=24), values)
    assert fixed.answer.interval is IntervalKind.T
    assert sequential.answer.interval is IntervalKind.BOUNDED
    (narrow,), (wide,) = fixed.answer.verdicts(), sequential.answer.verdicts()
    assert narrow.ci95_pct is not None
    assert wide.ci95_pct is not None
    assert wide.ci95_pct[0] < narrow.ci95_pct[0]
    assert sequential.answer.decided()


def test_one_block_has_an_effect_but_no_interval() -> None:
    analysis = analysis_of(plan_of_levels(), {"a1": [8.0], "a2": [8.1]})
    (verdict,) = analysis.answer.verdicts()
    assert verdict.ci95_pct is None
    assert verdict.p_sign_flip is None
    assert verdict.verdict is Verdict.UNDECIDED
    assert not analysis.answer.decided()


def test_a_block_with_a_missing_arm_is_left_out_and_said() -> None:
    analysis = analysis_of(plan_of_levels(), {"a1": [8.0, 8.1, 8.0], "a2": [8.1, 8.2]})
    assert analysis.answer.blocks == 2
    assert analysis.answer.verdicts()[0].blocks == 2
    assert "incomplete-block" in {warning.kind for warning in analysis.warnings}


def test_costs_that_never_vary_get_no_interval() -> None:
    costs = {"a1": [0.0] * 6, "a2": [0.0] * 6}
    (cost,) = analysis_of(plan_of_levels(), costs, "wal_bytes_per_tx").answer.comparisons
    assert cost.ci95_pct is None
    assert cost.verdict is Verdict.UNDECIDED


def test_an_arm_without_throughput_gives_a_warning_and_no_number() -> None:
    plan = plan_of_levels()
    trials = trials_of(plan, {"a1": [8.0] * 6, "a2": [8.1] * 6})
    broken = [
        t
        if t.arm == "a1"
        else TrialMeasures(
            t.number, t.block, t.position, t.arm, StepMeasures(None, 0, 1, 0, {}), (), ()
        )
        for t in trials
    ]
    analysis = Analysis(answer_of("?", plan, broken))
    assert analysis.answer.verdicts() == ()
    assert "no-estimate" in {warning.kind for warning in analysis.warnings}


def test_with_two_factors_each_main_effect_is_compared_over_the_other() -> None:
    text = """
        [factors.postgres]
        max_wal_size = ["1GB", "2GB"]
        fsync = ["on", "off"]
        [design]
        seed = 1
        min_blocks = 6
        max_blocks = 6
    """
    plan = plan_of_spec(text)
    wobble = np.random.default_rng(3).normal(0, 0.001, (4, 6))
    true = {"a1": 0.0, "a2": 0.2, "a3": 0.1, "a4": 0.3}
    values = {
        arm: list(8.0 + effect + w) for (arm, effect), w in zip(true.items(), wobble, strict=True)
    }
    by_factor = {c.factor: c for c in analysis_of(plan, values).answer.verdicts()}
    assert by_factor["max_wal_size"].effect_pct == pytest.approx(100 * math.expm1(0.1), abs=0.2)
    assert by_factor["fsync"].effect_pct == pytest.approx(100 * math.expm1(0.2), abs=0.2)


def test_a_huge_spread_gives_no_interval_instead_of_a_crash_or_an_absurd_one() -> None:
    analysis = analysis_of(plan_of_levels(least=2), {"a1": [8.0, 8.0], "a2": [10.0, 18.0]})
    (verdict,) = analysis.answer.verdicts()
    assert verdict.ci95_pct is None
    assert verdict.ci95 is None
    assert verdict.verdict is Verdict.UNDECIDED
    assert verdict.blocks_to_decide is None


@given(st.lists(st.floats(-700, 700), min_size=2, max_size=8))
@example([0.0, 0.0, 0.0, 0.0, -38.0])
def test_no_spread_of_values_breaks_the_comparison(values: list[float]) -> None:
    plan = plan_of_levels(least=len(values))
    for verdict in analysis_of(plan, {"a1": [0.0] * len(values), "a2": values}).answer.verdicts():
        assert verdict.ci95_pct is None or verdict.ci95_pct[0] >= -100.0


def test_caveats_that_trials_share_are_reported_once() -> None:
    plan = plan_of_levels()
    doubt = Caveat.of("trial", legacy("the clock stood still"))

    def said(trials: list[TrialMeasures]) -> list[Note]:
        found = Analysis(answer_of("?", plan, trials)).warnings
        return [one.note for one in found if one.kind == "trial"]

    def of_trials(code: str, **values: Value) -> Note:
        whose = Note(f"analysis/verdicts/{code}", values)
        return Note.of("analysis/verdicts/of-trials", trials=whose, note=doubt.note)

    shared = [
        replace(t, warnings=(doubt,)) for t in trials_of(plan, {"a1": [8.0] * 6, "a2": [8.1] * 6})
    ]
    assert said(shared) == [of_trials("all-trials", of=12)]
    one = [shared[0], *(replace(t, warnings=()) for t in shared[1:])]
    assert said(one) == [of_trials("trials", n=1, numbers=(1,))]
