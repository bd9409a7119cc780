"""Interactions, trends and joint p values: known answers, and what must not matter."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.blocks.contrasts import pair_blocks
from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.model import (
    Analysis,
    RunFacts,
    StepMeasures,
    TrialMeasures,
    Verdict,
)
from pgassay.analysis.statistics.multiple_testing import sign_flip_p
from pgassay.findings.answer.verdicts import find as find_verdicts
from pgassay.findings.model import FindingKind
from pgassay.findings.registry import find
from pgassay.notes import legacy
from pgassay.plan.factorial.numeric_levels import scores_of
from pgassay.plan.model import Factor, Plan, PlannedTrial
from pgassay.report.objects.run import run_object
from support.notes import codes_in, values_in
from support.synthetic.designs import plan_of_spec
from support.synthetic.report_contexts import synthetic_context

RULE = "findings/answer/factors/"
BLOCKS = 8
FULL = {"shared_buffers": ["64MB", "256MB"], "work_mem": ["4MB", "8MB"]}


def plan_of(factors: dict[str, list[str]], design: str = "", blocks: int = BLOCKS) -> Plan:
    text = "[factors.postgres]\n" + "".join(f"{n} = {json.dumps(v)}\n" for n, v in factors.items())
    text += f"[design]\nseed = 5\nmin_blocks = {blocks}\nmax_blocks = {blocks}\n{design}"
    return plan_of_spec(text)


def analysis_of(
    plan: Plan,
    log_tps: Callable[[int, str], float],
    position: Callable[[PlannedTrial], int] = lambda trial: trial.position,
) -> Analysis:
    """An analysis of trials whose throughput is exp of what a block and an arm give."""
    trials = [
        TrialMeasures(
            t.number, t.block, position(t), t.arm,
            StepMeasures(None, 0, 1, 1, {"tps": math.exp(log_tps(t.block, t.arm))}), (), (),
        )
        for t in plan.trials
    ]  # fmt: skip
    return Analysis(answer_of("?", plan, Random(1).sample(trials, len(trials))))


def in_one_order(trial: PlannedTrial) -> int:
    """Positions that are the same in all blocks, so nothing is adjusted for them."""
    return int(trial.arm[1:])


def noise(plan: Plan, seed: int = 2, spread: float = 0.01) -> dict[tuple[int, str], float]:
    """Trial noise, and whole-plot noise by block and level of the first factor."""
    source = np.random.default_rng(seed)
    first = plan.factors[0].name
    found = {}
    for block in range(1, plan.max_blocks + 1):
        luck = {level: spread * source.standard_normal() for level in plan.factors[0].levels}
        for arm in plan.arms:
            found[block, arm.id] = (
                9.0 + 0.1 * block + luck[arm.levels[first]] + spread * source.standard_normal()
            )
    return found


# Made with the seed above, its trial values (logarithms) put through statsmodels 0.15.0:
# AnovaRM with the block as the subject and both factors within it, which for two levels has the
# error strata of a split plot.
STATSMODELS_F = {
    "shared_buffers": 0.5723148366012398,
    "work_mem": 0.6916798999245355,
    "interaction": 2.409694038382972,
}


def test_the_strata_are_those_of_a_split_plot_analysis_of_variance() -> None:
    plan = plan_of(FULL, 'plots = "split"')
    values = noise(plan)
    found = analysis_of(plan, lambda block, arm: values[block, arm], in_one_order)
    estimates = {v.factor: v.block_effects_pct for v in found.answer.verdicts()}
    estimates["interaction"] = found.answer.interactions[0].estimate.block_effects_pct
    for name, effects in estimates.items():
        t = stats.ttest_1samp(np.log1p(np.array(effects) / 100), 0.0).statistic
        assert t**2 == pytest.approx(STATSMODELS_F[name], rel=1e-6)


def test_the_whole_plot_stratum_is_that_of_the_textbook() -> None:
    """F of the whole-plot factor: its mean square by that of blocks × whole plots."""
    plan = plan_of(FULL, 'plots = "split"')
    values = noise(plan)
    y = np.array([[values[b, a.id] for a in plan.arms] for b in range(1, BLOCKS + 1)])
    plots = y.reshape(BLOCKS, 2, 2).mean(axis=2)
    rows, columns = plots.mean(axis=1, keepdims=True), plots.mean(axis=0, keepdims=True)
    factor = BLOCKS * ((columns - plots.mean()) ** 2).sum()
    error = ((plots - rows - columns + plots.mean()) ** 2).sum() / (BLOCKS - 1)
    found = analysis_of(plan, lambda block, arm: values[block, arm], in_one_order)
    verdict = next(v for v in found.answer.verdicts() if v.factor == "shared_buffers")
    assert verdict.p_t == pytest.approx(stats.f.sf(factor / error, 1, BLOCKS - 1))


def test_an_interaction_is_the_difference_of_two_effects_and_is_reported_with_both() -> None:
    plan = plan_of(FULL)
    effects = {"a1": 0.0, "a2": 0.02, "a3": 0.12, "a4": 0.05}
    values = noise(plan, spread=0.001)
    found = analysis_of(plan, lambda block, arm: values[block, arm] + effects[arm])
    (interaction,) = found.answer.interactions
    at = {e.at: e.estimate.effect_pct or 0.0 for e in found.answer.simple_effects}
    assert interaction.verdict is Dependence.DEPENDS
    assert interaction.estimate.effect_pct == pytest.approx(100 * math.expm1(-0.09), abs=0.3)
    assert at["4MB"] == pytest.approx(100 * math.expm1(0.12), abs=0.2)
    assert at["8MB"] == pytest.approx(100 * math.expm1(0.03), abs=0.2)
    ratio = (1 + at["8MB"] / 100) / (1 + at["4MB"] / 100)
    assert interaction.estimate.effect_pct == pytest.approx(100 * (ratio - 1))
    (claim,) = [f.claim for f in find(found, RunFacts()) if f.kind is FindingKind.INTERACTION]
    assert claim.code == f"{RULE}depends.any"
    assert (claim.values["subject"], claim.values["other"]) == (
        "shared_buffers = 256MB",
        "work_mem",
    )
    assert (claim.values["base"], claim.values["at"]) == ("4MB", "8MB")
    low, high = (values_in(claim.values[end])["findings/percent"] for end in ("low", "high"))
    assert (low["pct"], high["pct"]) == (at["4MB"], at["8MB"])


def test_factors_that_only_add_up_are_independent_within_the_margin() -> None:
    plan = plan_of(FULL)
    values = noise(plan, spread=0.002)
    effects = {"a1": 0.0, "a2": 0.05, "a3": 0.1, "a4": 0.15}
    found = analysis_of(plan, lambda block, arm: values[block, arm] + effects[arm])
    (interaction,) = found.answer.interactions
    assert interaction.verdict is Dependence.INDEPENDENT
    assert interaction.estimate.blocks_to_decide == 0


def test_one_at_a_time_compares_with_the_baseline_arm_and_sees_no_interaction() -> None:
    plan = plan_of(FULL, 'combinations = "one-at-a-time"')
    values = noise(plan, spread=0.001)
    effects = {"a1": 0.0, "a2": 0.10, "a3": -0.05}
    found = analysis_of(plan, lambda block, arm: values[block, arm] + effects[arm])
    by_factor = {v.factor: v for v in found.answer.verdicts()}
    assert by_factor["shared_buffers"].effect_pct == pytest.approx(100 * math.expm1(0.10), abs=0.2)
    assert by_factor["work_mem"].effect_pct == pytest.approx(100 * math.expm1(-0.05), abs=0.2)
    assert (
        len(found.answer.interactions + found.answer.simple_effects + found.answer.arm_effects) == 0
    )


def test_vectors_of_one_at_a_time_are_held_against_the_baseline_arm_too() -> None:
    plan = plan_of(FULL, 'combinations = "one-at-a-time"')
    rows = {"a1": [1.0, 2.0], "a2": [1.5, 2.5], "a3": [9.0, 9.0]}
    vectors = {(t.block, t.arm): np.array(rows[t.arm]) + t.block for t in plan.trials}
    pairs = pair_blocks(vectors, plan, plan.factors[0], "256MB")
    assert pairs is not None
    assert pairs.baseline.shape == (BLOCKS, 2)
    np.testing.assert_allclose(pairs.differences, 0.5)


def test_a_fraction_reports_each_set_of_aliases_once_and_no_alias_of_a_main_effect() -> None:
    two = {n: ["on", "off"] for n in ("jit", "fsync", "autovacuum", "enable_sort")}
    four = analysis_of(plan_of(two, 'combinations = "fraction"'), lambda block, arm: 9.0 + block)
    pairs = {frozenset((i.factor, i.other)) for i in four.answer.interactions}
    aliases = {frozenset(i.aliases[0].strip("−").split(" × ")) for i in four.answer.interactions}
    assert len(pairs) == 3
    assert pairs | aliases == {frozenset(pair) for pair in itertools.combinations(two, 2)}
    del two["enable_sort"]
    three = plan_of(two, 'combinations = "fraction"\nresolution = 3')
    assert analysis_of(three, lambda block, arm: 9.0 + block).answer.interactions == ()


def test_a_verdict_of_resolution_three_names_the_pair_that_it_cannot_be_told_apart_from() -> None:
    two = {n: ["on", "off"] for n in ("jit", "fsync", "autovacuum")}
    plan = plan_of(two, 'combinations = "fraction"\nresolution = 3')
    values = noise(plan)
    found = analysis_of(plan, lambda block, arm: values[block, arm])
    said = [values_in(f.claim) for f in find_verdicts(found, RunFacts())]
    pairs = [v.aliases[0].strip("−").split(" × ") for v in found.answer.verdicts()]
    assert [set(pair) for pair in pairs] == [set(two) - {v.factor} for v in found.answer.verdicts()]
    assert [one["findings/answer/aliased"] for one in said] == [
        {"factor": v.factor, "list": (" × ".join(pair),)}
        for v, pair in zip(found.answer.verdicts(), pairs, strict=True)
    ]
    full = plan_of(two)
    assert not any(v.aliases for v in analysis_of(full, lambda *_: 9.0).answer.verdicts())


def test_an_interaction_is_reported_with_its_aliases() -> None:
    two = {n: ["on", "off"] for n in ("jit", "fsync", "autovacuum", "enable_sort")}
    plan = plan_of(two, 'combinations = "fraction"')
    values = noise(plan)
    found = analysis_of(plan, lambda block, arm: values[block, arm])
    claims = [f.claim for f in find(found, RunFacts()) if f.kind is FindingKind.INTERACTION]
    assert len(claims) == 3
    assert all("findings/answer/aliased-interaction" in codes_in(one) for one in claims)


def test_a_trend_over_doublings_is_the_slope_of_a_line() -> None:
    plan = plan_of({"work_mem": ["4MB", "64MB", "16MB"]})
    values = noise(plan, spread=0.002)
    truth = {"a1": 0.0, "a2": 0.08, "a3": 0.04}
    found = analysis_of(plan, lambda block, arm: values[block, arm] + truth[arm], in_one_order)
    (trend,) = found.answer.trends
    assert (trend.lowest, trend.highest, trend.verdict) == ("4MB", "64MB", Verdict.BETTER)
    means = [np.mean([values[b, a] + truth[a] for b in range(1, 9)]) for a in ("a1", "a2", "a3")]
    slope = stats.linregress([2, 6, 4], means).slope
    assert trend.per_doubling_pct == pytest.approx(100 * math.expm1(slope))
    assert trend.estimate.effect_pct == pytest.approx(100 * math.expm1(4 * slope))
    (claim,) = [f.claim for f in find(found, RunFacts()) if f.kind is FindingKind.TREND]
    assert claim.code == f"{RULE}trend.moves"
    assert (claim.values["moves"], claim.values["factor"]) == ("rises", "work_mem")
    signed = values_in(claim.values["signed"])["findings/percent"]
    assert signed["pct"] == trend.estimate.effect_pct
    assert "findings/answer/with-each-doubling" in codes_in(claim)


@pytest.mark.parametrize(
    ("name", "kind", "levels", "values", "doublings"),
    [
        ("max_wal_size", "postgres", ("1GB", "4GB", "16GB"), (10.0, 12.0, 14.0), True),
        ("max_wal_size", "postgres", ("1GB", "2048MB", "3GB"), (1024.0, 2048.0, 3072.0), False),
        ("checkpoint_timeout", "postgres", ("30s", "1h", "10min"), (30.0, 3600.0, 600.0), None),
        ("commit_delay", "postgres", ("0", "10", "100"), (0.0, 10.0, 100.0), False),
        ("vm.swappiness", "host", ("60", "1", "10"), (60.0, 1.0, 10.0), None),
        ("autovacuum_work_mem", "postgres", ("-1", "64MB", "1GB"), None, None),
        ("wal_compression", "postgres", ("off", "pglz", "lz4"), None, None),
        ("work_mem", "postgres", ("4MB", "8MB"), None, None),
        ("bin", "target", ("15", "head", "18"), None, None),
        ("x.size", "postgres", ("1MB", "1GB", "32MB"), (20.0, 30.0, 25.0), True),
    ],
)
def test_levels_that_are_amounts_have_scores(
    name: str,
    kind: str,
    levels: tuple[str, ...],
    values: tuple[float, ...] | None,
    doublings: bool | None,
) -> None:
    scores = scores_of(Factor(name, kind, levels))
    if values is None:
        assert scores is None
        return
    assert scores is not None
    if doublings is None:
        assert np.argsort(scores.values).tolist() == np.argsort(values).tolist()
    else:
        assert scores.values == pytest.approx(values)
        assert scores.doublings is doublings


def scipy_p(column: np.ndarray, resamples: float) -> float:
    found = stats.permutation_test(
        (column,), np.mean, permutation_type="samples", n_resamples=resamples, rng=1
    )
    return float(found.pvalue)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=9))
@example([411, -853, 0, 12, 21, 37, 372])
@settings(max_examples=30)
def test_the_sign_flip_p_is_that_of_scipy(thousandths: list[int]) -> None:
    # scipy is given whole numbers, whose sums are exact: it tells rounding from a tie as we must.
    whole = np.array(thousandths, dtype=np.float64)
    assert sign_flip_p(whole / 1000) == pytest.approx(scipy_p(whole, np.inf))


def test_many_blocks_are_drawn_from_and_agree_with_the_exact_test() -> None:
    source = np.random.default_rng(4)
    for column in (source.standard_normal((17, 2)) + 0.4).T:
        drawn = sign_flip_p(column)
        assert drawn is not None
        assert sign_flip_p(column) == drawn
        assert drawn >= scipy_p(column, 200_000) - 0.01


@settings(max_examples=20)
@given(st.floats(-0.2, 0.2), st.integers(0, 1000), st.floats(0.1, 10.0))
def test_interactions_do_not_care_for_order_unit_or_which_factor_comes_first(
    shift: float, seed: int, unit: float
) -> None:
    plan = plan_of(FULL)
    values = noise(plan, seed)
    turned = plan_of(dict(reversed(FULL.items())))
    same = {
        arm.id: next(a.id for a in plan.arms if dict(a.levels) == dict(arm.levels))
        for arm in turned.arms
    }

    def here(block: int, arm: str) -> float:
        return values[block, arm] + (shift if arm == "a4" else 0.0)

    (one,) = analysis_of(plan, here).answer.interactions
    (scaled,) = analysis_of(plan, lambda b, a: here(b, a) + math.log(unit)).answer.interactions
    places = {(t.block, t.arm): t.position for t in plan.trials}
    (other,) = analysis_of(
        turned, lambda b, a: here(b, same[a]), lambda t: places[t.block, same[t.arm]]
    ).answer.interactions
    for found in (scaled, other):
        assert found.verdict is one.verdict
        assert found.estimate.effect_pct == pytest.approx(one.estimate.effect_pct, abs=1e-6)
        assert found.estimate.ci95_pct == pytest.approx(one.estimate.ci95_pct, abs=1e-6)
        assert found.estimate.p_sign_flip == one.estimate.p_sign_flip


def test_several_verdicts_share_their_error_step_by_step(
    tmp_path: Path,
) -> None:
    spec = """
        question = "?"
        [factors.postgres]
        max_wal_size = ["32MB", "512MB", "8GB"]
        work_mem = ["4MB", "8MB"]
        [load]
        step = "3s"
        [design]
        min_blocks = 6
        max_blocks = 6
        seed = 7
    """
    context = synthetic_context(tmp_path, spec, effects={"a3": 0.1, "a4": 0.1})
    answer = json.loads(json.dumps(run_object("run", context)))
    shared = {v["level"]: v["shared_by"] for v in answer["verdicts"]}
    assert shared == {"512MB": 3, "8GB": 2, "8MB": 2}
    assert {"effect_pct", "ci95_pct", "p_sign_flip", "verdict", "aliases"} <= answer[
        "interactions"
    ][0].keys()
    assert answer["trends"][0]["factor"] == "max_wal_size"
    assert len(answer["simple_effects"]) == 4


def test_a_missing_arm_leaves_its_block_out_of_every_estimate() -> None:
    plan = plan_of(FULL)
    values = noise(plan)
    whole = analysis_of(plan, lambda block, arm: values[block, arm])
    kept = [t for t in whole.answer.trials if (t.block, t.arm) != (3, "a4")]
    found = Analysis(answer_of("?", plan, kept))
    assert found.answer.interactions[0].estimate.blocks == BLOCKS - 1
    assert {e.estimate.blocks for e in found.answer.arm_effects} == {BLOCKS - 1}
    assert (
        Analysis(
            answer_of("?", plan, [replace(t, invalid=(legacy("x"),)) for t in kept])
        ).answer.interactions
        == ()
    )
