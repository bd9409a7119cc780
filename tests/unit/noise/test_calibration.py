"""A/A runs: the noise of a host, what it lets find, and what is advised."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.validate.within_trials.courses import course_of, inert_noise

from pgassay.analysis.compare.blocks.contrasts import BlockTable
from pgassay.analysis.judge import answered
from pgassay.analysis.model import Verdict
from pgassay.analysis.noise.aa_run import host_steadiness
from pgassay.analysis.noise.model import Noise, RunTrend
from pgassay.analysis.noise.prior_runs import conditions_of, expect, record_of
from pgassay.analysis.noise.trial_length import advise, optimum_s, trend_over
from pgassay.analysis.noise.trial_noise import noise_of, spread_interval
from pgassay.findings.model import FindingKind
from pgassay.findings.noise.fitness import Fitness, fitness_of
from pgassay.notes import Value
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.report.context import ReportContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.run import run_object
from pgassay.workflows.reporting import report_run
from support.notes import values_in
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.report_contexts import synthetic_context
from support.synthetic.stored_trials import trial_file

pytestmark = pytest.mark.slow


def design(text: str = SPEC) -> Plan:
    return plan_of_spec(text, calibrates=True)


def sequential_design() -> Plan:
    return design(SPEC.replace("max_blocks = 6", "max_blocks = 24")).experiment()


def calibrated(path: Path, noise: float = 0.01) -> ReportContext:
    return synthetic_context(path, noise=noise, calibrates=True)


def noise_with(start_sd: float, second_sd: float, measured_s: float = 30.0) -> Noise:
    return Noise(
        metric="tps",
        trials=24,
        degrees=12,
        measured_s=measured_s,
        trial_sd=math.hypot(start_sd, second_sd / math.sqrt(measured_s)),
        second_sd=second_sd,
        start_sd=start_sd,
        autocorrelation=0.5,
        interval_s=1.0,
        drift_sd=0.0,
    )


def test_the_baseline_is_run_against_itself_in_the_same_design() -> None:
    text = SPEC.replace("max_blocks = 6", "max_blocks = 12")
    plan, experiment = design(text), plan_of_spec(text)
    assert [dict(arm.levels) for arm in plan.arms] == [
        {"max_wal_size": "32MB", "A/A": "A"},
        {"max_wal_size": "32MB", "A/A": "B"},
    ]
    assert (plan.steps, plan.max_blocks) == (experiment.steps, experiment.max_blocks)
    assert plan.experiment().factors == experiment.factors


def test_a_label_changes_nothing_on_the_server() -> None:
    for arm in design().arms:
        assert arm.settings == {"max_wal_size": "32MB"}
        assert set(arm.by_kind) == {"postgres", "label"}


def test_an_aa_run_ends_after_its_least_blocks_whatever_the_result() -> None:
    plan = design(SPEC.replace("max_blocks = 6", "max_blocks = 12"))
    assert next(block for block in range(1, 13) if answered(plan, block, [])) == 6
    assert plan.last_block == 6


def test_an_aa_plan_is_read_back_as_it_was() -> None:
    assert plan_from_json(plan_to_json(design())) == design()


def test_its_verdict_is_calibration_and_never_better_or_worse(tmp_path: Path) -> None:
    context = calibrated(tmp_path / "run")
    assert {c.verdict for c in context.analysis.answer.comparisons} == {Verdict.CALIBRATION}
    told = run_object("run", context)
    assert [verdict["verdict"] for verdict in told["verdicts"]] == ["calibration"]
    assert told["calibration"]["fitness"] in set(Fitness)
    json.dumps(told, allow_nan=False)


def test_page_and_markdown_tell_noise_advice_and_fitness(tmp_path: Path) -> None:
    context = calibrated(tmp_path / "run")
    for text in (render_html(context), render_markdown(context)):
        for title in ("Noise", "Detectable effect", "Time to decide", "Advice", "Fitness"):
            assert title in text
        assert "Calibration of this host" in text


def test_a_quiet_host_is_fit_and_a_noisy_one_is_not(tmp_path: Path) -> None:
    found = {}
    for name, noise in (("quiet", 0.004), ("noisy", 0.15)):
        calibration = calibrated(tmp_path / name, noise).analysis.noise.calibration
        assert calibration is not None
        found[name] = fitness_of(calibration, 0.02)
    assert found == {"quiet": Fitness.FIT, "noisy": Fitness.UNFIT}


def test_what_the_noise_is_made_of_is_found_again() -> None:
    source = np.random.default_rng(3)
    starts = 0.01 * source.standard_normal((60, 2))
    seconds = 0.03 * inert_noise(source, 120, 200, 0.8)
    courses = [
        course_of(5000.0 * np.exp(start + row), number=at + 1)
        for at, (start, row) in enumerate(zip(starts.ravel(), seconds, strict=True))
    ]
    values = np.array([math.log(float(c.tps.mean())) for c in courses]).reshape(60, 2)
    drift = 0.02 * source.standard_normal((60, 1))
    table = BlockTable(tuple(range(60)), values + drift)
    noise = noise_of("tps", table, courses, 200.0, alike=True)
    assert noise is not None
    of_a_second = 0.03 * math.sqrt((1 + 0.8) / (1 - 0.8))
    assert noise.second_sd == pytest.approx(of_a_second, rel=0.2)
    assert noise.start_sd == pytest.approx(0.01, rel=0.3)
    assert noise.autocorrelation == pytest.approx(0.8, abs=0.05)
    assert noise.drift_sd == pytest.approx(0.02, rel=0.3)
    assert noise.degrees == 60


def test_one_arm_alone_is_measured_by_neighbours_so_that_drift_does_not_count() -> None:
    source = np.random.default_rng(4)
    values = 0.01 * source.standard_normal((200, 1)) + np.linspace(0.0, 1.0, 200)[:, None]
    noise = noise_of("tps", BlockTable(tuple(range(200)), values), [], 10.0, alike=False)
    assert noise is not None
    assert noise.trial_sd == pytest.approx(0.01, rel=0.2)
    assert noise.second_sd is None


@pytest.mark.parametrize("arms", [1, 2])
def test_the_interval_of_the_scatter_holds_it_nineteen_times_of_twenty(arms: int) -> None:
    source = np.random.default_rng(5)
    held = 0
    for _ in range(1000):
        table = BlockTable(tuple(range(8)), 0.02 * source.standard_normal((8, arms)))
        noise = noise_of("tps", table, [], 10.0, alike=True)
        assert noise is not None
        assert noise.trial_sd_ci95 is not None
        low, high = noise.trial_sd_ci95
        assert low < noise.trial_sd < high
        held += low <= 0.02 <= high
    assert 925 <= held <= 975


def test_the_interval_of_the_scatter_is_the_chi_squares() -> None:
    # From tables: of 12 degrees of freedom the square lies between 4.404 and 23.337.
    low, high = spread_interval(2.0, 12)
    assert low == pytest.approx(2.0 * math.sqrt(12 / 23.337), rel=1e-4)
    assert high == pytest.approx(2.0 * math.sqrt(12 / 4.404), rel=1e-4)


def test_constant_trials_have_no_noise_to_tell() -> None:
    table = BlockTable((1, 2), np.ones((2, 2)))
    assert noise_of("tps", table, [], 10.0, alike=True) is None


def test_the_optimum_is_kaliberas_and_joness() -> None:
    # sqrt(c2 / c1 * (variance inside / variance between)): 9 s of overhead, ratio 100.
    assert optimum_s(0.01, 0.1, 9.0) == pytest.approx(30.0)
    assert optimum_s(0.0, 0.1, 9.0) is None


def test_expensive_resets_favour_longer_trials_and_variable_starts_shorter_ones() -> None:
    experiment = sequential_design()

    def length(start_sd: float, second_sd: float, overhead_s: float) -> float:
        found = advise(noise_with(start_sd, second_sd), experiment, overhead_s)
        assert found is not None
        return found.trial_s

    assert length(0.005, 0.15, 120.0) > length(0.005, 0.15, 2.0)
    assert length(0.02, 0.05, 5.0) < length(0.002, 0.15, 5.0)


def test_no_advice_is_given_where_no_length_would_do() -> None:
    assert advise(noise_with(0.5, 0.5), sequential_design(), 5.0) is None


@pytest.mark.parametrize(
    ("lines", "least", "most"),
    [
        ("min_blocks = 12\nmax_blocks = 24", 12, 12),
        ("min_blocks = 2\nmax_blocks = 24", 6, 200),
        ("stopping = 'group-sequential'", 6, 24),
    ],
)
def test_the_blocks_advised_are_no_fewer_than_the_rule_allows_nor_beyond_its_looks(
    lines: str, least: int, most: int
) -> None:
    text = SPEC.replace("min_blocks = 6\nmax_blocks = 6", lines)
    quiet = advise(noise_with(0.001, 0.001), design(text).experiment(), 5.0)
    assert quiet is not None
    assert least <= quiet.blocks <= most
    if "group" in lines:
        assert advise(noise_with(0.03, 0.001), design(text).experiment(), 5.0) is None


def test_plan_and_aa_run_agree_on_what_several_factors_and_levels_let_expect(
    tmp_path: Path,
) -> None:
    for name, more in (
        ("2x2", 'max_wal_size = ["32MB", "4GB"]\nwork_mem = ["4MB", "64MB"]'),
        ("5 levels", 'max_wal_size = ["32MB", "64MB", "1GB", "2GB", "4GB"]'),
    ):
        text = SPEC.replace('max_wal_size = ["32MB", "4GB"]', more)
        text = text.replace("max_blocks = 6", "max_blocks = 12")
        run, spec, _ = synthetic_run(tmp_path / name, spec_text=text, blocks=6, calibrates=True)
        analysis = report_run(run).context.analysis
        assert analysis.noise.calibration is not None
        assert analysis.noise.floor is not None
        record = record_of(conditions_of(spec), analysis.noise.floor)
        expected = expect(conditions_of(spec), make_plan(spec), [record])
        assert expected is not None
        known, foreseen = analysis.noise.calibration.outlook, expected.cases[0].outlook
        assert known.difference_sd == pytest.approx(foreseen.difference_sd)
        assert (known.verdicts, known.if_same) == (foreseen.verdicts, foreseen.if_same)
        arms = analysis.noise.calibration.arms
        assert arms * (10.0 + expected.overhead_s) == pytest.approx(expected.block_s)


def of_each_alone(context: ReportContext) -> list[Mapping[str, Value]]:
    """What the findings of an A/A run say of several verdicts."""
    code = "findings/noise/forecast/expected.several"
    said = [values_in(one.claim) for one in context.of_kind(FindingKind.CALIBRATION)]
    return [one[code] for one in said if code in one]


def test_where_several_levels_are_compared_the_time_is_said_to_be_of_each(tmp_path: Path) -> None:
    text = SPEC.replace('["32MB", "4GB"]', '["32MB", "64MB", "4GB"]')
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=text, calibrates=True)
    assert of_each_alone(report_run(run).context) == [{"verdicts": 2}]
    assert of_each_alone(calibrated(tmp_path / "single")) == []


def test_the_hosts_steadiness_comes_from_the_fingerprints_around_trials() -> None:
    look = {"version": "18", "settings": {}}
    summary = trial_file(
        fingerprint={
            "before": {**look, "host": {"frequency_mhz": 2000.0, "throttled": 3}},
            "after": {**look, "host": {"frequency_mhz": 3000.0, "throttled": 5}},
            "processors": {"server_s": 1.0, "all_s": 10.0, "steal_s": 1.0, "foreign_user_s": 0.5},
        }
    )
    found = host_steadiness([summary, summary])
    assert (found.steal_pct, found.others_pct, found.throttled) == (10.0, 5.0, 2)
    assert found.frequency_spread_pct == pytest.approx(20.0)
    nothing = host_steadiness(
        [trial_file(fingerprint={"before": {**look, "host": None}, "processors": None})]
    )
    assert nothing.steal_pct is nothing.frequency_spread_pct is nothing.throttled is None


def test_a_run_of_levels_has_its_noise_but_no_calibration(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.3}, noise=0.01)
    context = report_run(run).context
    assert context.analysis.noise.calibration is None
    assert not context.of_kind(FindingKind.CALIBRATION)
    assert context.analysis.noise.floor is not None
    tps = next(n for n in context.analysis.noise.floor.metrics if n.metric == "tps")
    assert 0.004 < tps.trial_sd < 0.03


@pytest.mark.parametrize("trials", [6, 12, 24])
def test_a_run_without_drift_is_rarely_called_drifting(trials: int) -> None:
    source = np.random.default_rng(8)
    found = [trend_over(np.exp(0.05 * source.standard_normal(trials)).tolist()) for _ in range(400)]
    trends = [trend for trend in found if trend is not None]
    assert np.mean([abs(trend.pct) >= 5.0 for trend in trends]) > 0.1, "it looks like drift"
    assert np.mean([trend.is_sure for trend in trends]) < 0.08


def test_a_drift_that_is_there_is_found_with_its_size() -> None:
    source = np.random.default_rng(8)
    rising = np.linspace(0.0, math.log(1.2), 24)
    trend = trend_over(np.exp(rising + 0.02 * source.standard_normal(24)).tolist())
    assert trend is not None
    assert trend.is_sure
    assert trend.ci95_pct[0] < 20.0 < trend.ci95_pct[1]
    assert trend_over([1.0, 2.0, 3.0, 4.0]) is None


def test_only_a_significant_drift_makes_a_host_doubtful(tmp_path: Path) -> None:
    calibration = calibrated(tmp_path / "run", 0.004).analysis.noise.calibration
    assert calibration is not None
    states = [
        fitness_of(replace(calibration, trend=RunTrend(6.0, interval)), 0.02)
        for interval in ((-1.0, 13.0), (1.0, 11.0))
    ]
    assert states == [Fitness.FIT, Fitness.DOUBTFUL]
