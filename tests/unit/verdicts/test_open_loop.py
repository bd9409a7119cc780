"""With a rate the verdict is about response times; throughput says only whether it was reached."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, make_design, make_trials

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import CarryOverTest, Comparison, Withdrawn
from pgassay.analysis.curves.effect_curves import effects_by_load
from pgassay.analysis.measures.model import SliceMeasures
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import Analysis, Verdict
from pgassay.cli.show.shown import show_run
from pgassay.findings.answer.verdicts import verdict_sentence
from pgassay.plan.store import plan_to_json
from pgassay.report.sections.record.measured import comparison_table
from pgassay.spec.endpoints import OF_QUERIES, PRIMARY_METRICS
from pgassay.workflows.reporting import analyse_run
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.report_contexts import synthetic_context

pytestmark = pytest.mark.slow

OPEN = SPEC.replace("clients = 8", "clients = 8\nrate = 500")
OF_SCRIPTS = {*PRIMARY_METRICS} - {OF_QUERIES}
STEPS = SPEC.replace("clients = 8", "clients = 8\nrate = [300, 500]")


def analysis_of(folder: Path, spec: str = OPEN, *, slower: float = 1.0) -> Analysis:
    """The level is 12 % faster; `slower` is the share of the rate that it reached."""
    run, read, plan = synthetic_run(folder / "run", spec_text=spec, effects={"a2": 0.12})
    trials = []
    for trial in map(measure_trial, run.trials()):
        reached = slower if trial.arm == "a2" else 1.0
        tps = trial.whole.values["tps"] * reached
        whole = replace(trial.whole, values={**trial.whole.values, "tps": tps})
        trials.append(replace(trial, whole=whole))
    return Analysis(answer_of(read.question, plan, trials))


def throughput(analysis: Analysis) -> Comparison:
    return next(c for c in analysis.answer.comparisons if c.metric == "tps" and c.step is None)


def test_the_verdict_and_its_endpoint_are_about_response_times(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    (verdict,) = analysis.answer.verdicts()
    assert (verdict.metric, verdict.verdict) == ("response_mean", Verdict.BETTER)
    assert verdict.effect_pct == pytest.approx(-11.3, abs=1.5)
    assert [one.metric for one, _ in analysis.answer.beside(verdict)] == ["response_p99"]
    sentence = verdict_sentence(verdict, analysis)
    assert sentence.code == "findings/answer/verdicts/faster.latency"
    assert sentence.values["metric"] == "Mean response time"


def test_equivalent_and_undecided_say_in_what(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path)
    (verdict,) = analysis.answer.verdicts()
    texts = [
        verdict_sentence(replace(verdict, verdict=one, blocks_to_decide=None), analysis)
        for one in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE, Verdict.UNDECIDED)
    ]
    assert all(" in mean response time" in str(text) for text in texts)


def test_arms_that_reach_the_rate_have_no_verdict_on_throughput(tmp_path: Path) -> None:
    found = throughput(analysis_of(tmp_path))
    assert (found.verdict, found.clear) == (Verdict.UNDECIDED, False)
    assert found.withdrawn is Withdrawn.SET_BY_LOAD
    interval = found.ci95_pct
    assert interval is not None
    assert -2.0 < interval[0] < interval[1] < 2.0, "in a closed loop this would be equivalent"


def test_an_arm_that_does_not_reach_the_rate_is_worse_in_throughput(tmp_path: Path) -> None:
    found = throughput(analysis_of(tmp_path, slower=0.8))
    assert (found.verdict, found.clear) == (Verdict.WORSE, True)
    assert found.withdrawn is None


def test_without_a_rate_nothing_is_said_of_who_set_the_throughput(tmp_path: Path) -> None:
    spec = SPEC + 'metric = "latency_mean"\n'
    run, read, plan = synthetic_run(tmp_path / "run", spec_text=spec)
    analysis = Analysis(
        answer_of(read.question, plan, [measure_trial(trial) for trial in run.trials()])
    )
    assert throughput(analysis).withdrawn is None


def test_the_report_says_who_set_the_throughput(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=OPEN)
    compared = comparison_table(analyse_run(run))
    words = dict(zip(compared.column("metric"), compared.column("verdict"), strict=True))
    assert words["Throughput"] == "set by the load"
    assert words["Mean latency"] != "set by the load"


def test_an_older_run_that_asked_about_throughput_is_not_called_equivalent(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", spec_text=OPEN)
    older = plan_to_json(replace(plan, metric="tps"))
    (run.path / "plan.json").write_text(json.dumps(older))
    analysis = analyse_run(run).analysis
    (verdict,) = analysis.answer.verdicts()
    assert (verdict.verdict, verdict.withdrawn) == (Verdict.UNDECIDED, Withdrawn.SET_BY_LOAD)
    assert analysis.answer.may_end(), "more blocks cannot change it"
    sentence = verdict_sentence(verdict, analysis)
    assert sentence.code == "findings/answer/verdicts/withdrawn.set-by-load"


def test_steps_of_a_rate_are_compared_by_response_time_only(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", spec_text=STEPS, effects={"a2": 0.12})
    trials = [measure_trial(trial) for trial in run.trials()]
    (effect,) = effects_by_load(plan, trials)
    assert (effect.metric, effect.loads) == ("response_mean", (300.0, 500.0))
    steps = [
        c for c in Analysis(answer_of("?", plan, trials)).answer.comparisons if c.metric == "tps"
    ]
    assert [c.step for c in steps] == [None, 300.0, 500.0]
    assert Verdict.EQUIVALENT not in {c.verdict for c in steps}


@pytest.mark.parametrize("metric", ["response_mean", "response_p99"])
def test_carry_over_of_response_times_is_judged_by_their_mean(metric: str) -> None:
    plan = replace(make_design(6, 6, 64, 1), metric=metric)
    world = World("half after a second", effect=0.2, lasts_s=1.44)
    trials = make_trials(plan, world, np.random.default_rng(4))
    slower = [
        replace(trial, turns=tuple(_as_response(one, metric) for one in trial.turns))
        for trial in trials
    ]
    analysis = Analysis(answer_of("?", plan, slower))
    assert {one.test for one in analysis.answer.carry_over} == set(CarryOverTest)
    assert CarryOverTest.WITHIN in {one.test for one in analysis.answer.carry_over if one.found}


def _as_response(one: SliceMeasures, metric: str) -> SliceMeasures:
    """The slice of a server that is slower where it had more throughput; no part has quantiles."""
    mean, early, late = (1e3 / part["tps"] for part in (one.values, one.early, one.late))
    return replace(
        one,
        values={"response_mean": mean, metric: mean},
        early={"response_mean": early},
        late={"response_mean": late},
    )


def test_the_noise_of_every_primary_metric_of_scripts_is_kept(tmp_path: Path) -> None:
    spec = OPEN.replace('step = "10s"', 'step = "40s"')
    floor = synthetic_context(tmp_path, spec_text=spec).analysis.noise.floor
    assert floor is not None
    noises = {noise.metric: noise for noise in floor.metrics}
    assert set(noises) == OF_SCRIPTS
    assert noises["response_mean"].second_sd is not None, "its seconds are known, as of throughput"
    closed, _, _ = synthetic_run(tmp_path / "closed")
    floor = analyse_run(closed).analysis.noise.floor
    assert floor is not None
    assert {noise.metric for noise in floor.metrics} == {
        name for name in OF_SCRIPTS if not name.startswith("response")
    }


def test_show_has_response_times_of_an_open_loop_and_latencies_of_a_closed_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _, _ = synthetic_run(tmp_path / "open", spec_text=OPEN)
    show_run(run.path, None, None, as_json=False)
    shown = capsys.readouterr().out
    assert "response" in shown
    assert "resp. p99" in shown
    run, _, _ = synthetic_run(tmp_path / "closed")
    show_run(run.path, None, None, as_json=False)
    heads = next(line for line in capsys.readouterr().out.splitlines() if "throughput" in line)
    assert heads.split()[:5] == ["trial", "block", "throughput", "mean", "p99"]
