"""Metrics beside the primary one: what is said of them is corrected for all, everywhere alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import Analysis, RunFacts, StepMeasures, TrialMeasures, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.multiple_testing import yekutieli
from pgassay.findings.model import FindingKind
from pgassay.findings.registry import find
from pgassay.plan.model import Plan
from pgassay.report.sections.answer.why import difference_table
from pgassay.report.sections.record.measured import comparison_table
from support.synthetic.designs import plan_of_levels
from support.synthetic.directories import synthetic_run
from support.synthetic.report_contexts import synthetic_context

COSTS = [name for name, metric in METRICS.items() if metric.group in ("cost", "waits")]
DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


def plan_of(levels: int = 2) -> Plan:
    return plan_of_levels([f"{n}GB" for n in range(1, levels + 1)], least=8)


def analysis_of(plan: Plan, seed: int, moved: dict[str, float] | None = None) -> Analysis:
    """Every metric is noise of 3 %, but for those that the levels change by so much."""
    source = np.random.default_rng(seed)
    trials = []
    for t in plan.trials:
        values = {}
        for name in ("tps", "latency_p99", "latency_p95", *COSTS):
            effect = (moved or {}).get(name, 0.0) if t.arm != "a1" else 0.0
            values[name] = float(np.exp(effect + 0.03 * source.standard_normal()))
        whole = StepMeasures(None, 0, 1, 10_000, values)
        trials.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, (), ()))
    return Analysis(answer_of("?", plan, trials))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60))
def test_the_corrected_p_is_that_of_scipy(p: list[float]) -> None:
    known = stats.false_discovery_control(p, method="by")
    np.testing.assert_allclose(yekutieli(np.array(p)), known, atol=1e-12)


def test_without_any_effect_hardly_a_run_says_that_anything_differs() -> None:
    plan = plan_of(levels=3)
    said, alone = 0, 0
    for seed in range(120):
        others = [c for c in analysis_of(plan, seed).answer.comparisons if c.metric != "tps"]
        said += any(c.verdict in DIFFERENT or c.clear for c in others)
        alone += any(c.p_t is not None and c.p_t < 0.05 for c in others)
    assert alone > 100, "uncorrected, nearly every run has something to tell"
    assert said <= 8


def test_one_family_holds_all_metrics_of_all_levels() -> None:
    analysis = analysis_of(plan_of(levels=4), 3)
    others = [c for c in analysis.answer.comparisons if c.metric not in ("tps", "latency_p99")]
    assert {c.level for c in others} == {"2GB", "3GB", "4GB"}
    known = stats.false_discovery_control([c.p_t or 0.0 for c in others], method="by")
    assert [c.p_by for c in others] == pytest.approx(list(known))
    assert {(c.p_by, c.clear) for c in analysis.answer.verdicts()} == {(None, None)}


def test_a_difference_that_is_there_is_said_with_its_direction() -> None:
    moved = {"latency_p99": 0.3, "wal_bytes_per_tx": -0.5, "latency_p95": 0.02}
    by_metric = {c.metric: c for c in analysis_of(plan_of(), 5, moved).answer.comparisons}
    assert by_metric["latency_p99"].verdict is Verdict.WORSE
    assert by_metric["wal_bytes_per_tx"].verdict is Verdict.BETTER
    assert by_metric["wal_bytes_per_tx"].clear
    assert by_metric["latency_p95"].verdict not in DIFFERENT


def test_an_interval_excludes_zero_exactly_where_a_difference_is_said() -> None:
    moved = {"wal_bytes_per_tx": -0.5, "latency_p95": 0.06, "disk_written_bytes_per_tx": 0.05}
    for seed in range(8):
        for one in analysis_of(plan_of(levels=3), seed, moved).answer.comparisons:
            if one.metric in ("tps", "latency_p99") or one.ci95 is None:
                continue
            assert (one.ci95[0] > 0.0 or one.ci95[1] < 0.0) is one.clear


def test_mean_latency_in_a_closed_loop_is_judged_as_the_throughput_that_it_is() -> None:
    plan = plan_of()
    for seed in range(8):
        trials = analysis_of(plan, seed, {"tps": 0.04}).answer.trials
        trials = tuple(
            replace(t, whole=replace(t.whole, values={**v, "latency_mean": 8.0 / v["tps"]}))
            for t in trials
            if (v := t.whole.values)
        )
        by_metric = {c.metric: c for c in Analysis(answer_of("?", plan, trials)).answer.comparisons}
        tps, latency = by_metric["tps"], by_metric["latency_mean"]
        assert (latency.verdict, latency.p_by) == (tps.verdict, None)
        assert latency.clear is (tps.verdict in DIFFERENT)
        assert latency.p_t == pytest.approx(tps.p_t)


def test_the_primary_verdict_does_not_change() -> None:
    analysis = analysis_of(plan_of(), 5, {"tps": 0.2})
    (verdict,) = analysis.answer.verdicts()
    assert verdict.verdict is Verdict.BETTER


def test_text_table_and_verdict_of_a_row_never_contradict_each_other(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 0.12})
    told = [f for f in context.of_kind(FindingKind.EXPLANATION) if f.comparison is not None]
    assert told
    for finding, result in zip(told, difference_table(context).column("verdict"), strict=True):
        assert finding.comparison is not None
        unclear = "no clear difference" in finding.text
        assert unclear is not finding.comparison.clear
        assert (result in ("no clear difference", "equivalent")) is unclear
        if finding.comparison.verdict in DIFFERENT:
            low, high = finding.comparison.ci95 or (0.0, 0.0)
            assert low > 0.0 or high < 0.0
    compared = comparison_table(context)
    words = dict(zip(compared.column("metric"), compared.column("verdict"), strict=True))
    assert words["Checkpoints started per minute"] == "different", "neither way is good"
    assert words["WAL per transaction"] == "better"


def test_a_count_that_differs_by_the_same_in_every_block_is_said(tmp_path: Path) -> None:
    run, spec, plan = synthetic_run(tmp_path / "run")
    trials = []
    for trial in map(measure_trial, run.trials()):
        values = {**trial.whole.values, "wal_fpi_per_tx": 1.0 + (trial.arm == "a2")}
        trials.append(replace(trial, whole=replace(trial.whole, values=values)))
    analysis = Analysis(answer_of(spec.question, plan, trials))
    (count,) = [c for c in analysis.answer.comparisons if c.metric == "wal_fpi_per_tx"]
    assert (count.p_t, count.clear, count.verdict) == (None, True, Verdict.WORSE)
    (text,) = [f.text for f in find(analysis, RunFacts()) if f.comparison is count]
    assert "no clear difference" not in text
