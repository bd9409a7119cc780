"""A verdict's sentence goes on with its endpoints, and its badge hides none that contradicts it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import Analysis, Comparison, Verdict
from pgassay.errors import SpecError
from pgassay.findings.answer.endpoints import (
    badge,
    endpoints_beside,
    few_blocks,
    plain_badge,
    verdict_words,
)
from pgassay.findings.wording import interval
from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.plan.model import Endpoint
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from support.synthetic.analyses import changed
from support.synthetic.directories import SPEC, synthetic_run


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    run, spec, plan = synthetic_run(tmp_path_factory.mktemp("tail") / "run", effects={"a2": 0.12})
    return Analysis(
        answer_of(spec.question, plan, [measure_trial(trial) for trial in run.trials()])
    )


def sentence_with(
    analysis: Analysis, verdict: Verdict, effect: float, interval: tuple[float, float] | None
) -> str:
    """The sentence where the 99th percentile came out so."""
    (own,) = analysis.answer.verdicts()
    beside = endpoints_beside(own, with_p99(analysis, verdict, effect, interval))
    return f"It is faster{beside}."


def with_p99(
    analysis: Analysis, verdict: Verdict, effect: float, interval: tuple[float, float] | None
) -> Analysis:
    moved = tuple(
        replace(
            c,
            verdict=verdict,
            difference=effect,
            effect_pct=effect,
            ci95=interval,
            ci95_pct=interval,
        )
        if c.metric == "latency_p99" and c.step is None
        else c
        for c in analysis.answer.comparisons
    )
    return changed(analysis, comparisons=moved)


@pytest.mark.parametrize(
    ("verdict", "effect", "interval", "text"),
    [
        (
            Verdict.BETTER,
            -12.34,
            (-15.0, -9.5),
            "; p99 latency is 12.3 % lower (95 % CI 9.5 to 15.0",
        ),
        (Verdict.WORSE, 30.0, (12.0, 51.0), ", but p99 latency is 30.0 % higher (95 % CI 12.0 to"),
        (Verdict.EQUIVALENT, 1.0, (-2.0, 4.9), "; p99 latency is equivalent within 5 %"),
        (Verdict.NEGLIGIBLE, 2.0, (0.02, 4.96), "; p99 latency differs by less than 5 % (95 % CI"),
        (
            Verdict.UNDECIDED,
            1.0,
            (-3.0, 5.1),
            "; p99 latency is undecided: +1.0 % (95 % CI −3.0 to 5.1 %",
        ),
    ],
)
def test_an_endpoint_is_given_with_its_interval_or_its_margin(
    analysis: Analysis, verdict: Verdict, effect: float, interval: tuple[float, float], text: str
) -> None:
    found = sentence_with(analysis, verdict, effect, interval)
    assert f"It is faster{text}" in found.replace("\u2212", "−")


def test_a_worse_tail_is_in_the_badge(analysis: Analysis) -> None:
    (own,) = analysis.answer.verdicts()
    assert own.verdict is Verdict.BETTER
    worse = with_p99(analysis, Verdict.WORSE, 30.0, (12.0, 51.0))
    assert str(badge(own, worse)) == "better, p99 worse"
    equal = with_p99(analysis, Verdict.EQUIVALENT, 1.0, (-2.0, 4.0))
    assert badge(own, equal) == plain_badge(Verdict.BETTER)
    slower = replace(own, verdict=Verdict.WORSE)
    faster_tail = with_p99(analysis, Verdict.BETTER, -30.0, (-51.0, -12.0))
    assert str(badge(slower, faster_tail)) == "worse, p99 better"


def test_a_verdict_of_few_blocks_says_that_it_rests_on_normality(analysis: Analysis) -> None:
    (own,) = analysis.answer.verdicts()
    few = replace(own, blocks=5)
    plain = changed(analysis, endpoints=())
    assert badge(few, plain) == verdict_words(few)
    assert verdict_words(few).code == "findings/answer/endpoints/few.badge"
    assert few_blocks(few) == Note.of("findings/answer/endpoints/few.sentence", blocks=5)
    for other in (
        replace(own, blocks=6),
        replace(few, rounds=96),
        replace(few, verdict=Verdict.UNDECIDED),
    ):
        assert "normal" not in str(badge(other, analysis))


def test_an_endpoint_without_an_interval_is_left_out(analysis: Analysis) -> None:
    assert sentence_with(analysis, Verdict.UNDECIDED, 3.0, None) == "It is faster."


def test_failures_that_never_happened_are_equivalent_and_said_so(analysis: Analysis) -> None:
    (own,) = analysis.answer.verdicts()
    failures = replace(
        own, metric="failed_share", baseline_mean=0.0, level_mean=0.0, difference=0.0,
        effect_pct=None, ci95=None, ci95_pct=None, verdict=Verdict.EQUIVALENT,
    )  # fmt: skip
    beside = changed(
        analysis,
        comparisons=(own, failures),
        endpoints=(Endpoint("failed_share", 0.01),),
    )
    assert str(endpoints_beside(own, beside)) == "; no transaction failed"


def test_sentences_of_steps_and_of_withdrawn_verdicts_stand_alone(analysis: Analysis) -> None:
    (own,) = analysis.answer.verdicts()

    def alone(verdict: Comparison) -> bool:
        return endpoints_beside(verdict, analysis) == ""

    assert not alone(own)
    assert alone(replace(own, step=8.0))
    assert alone(replace(own, withdrawn=Withdrawn.CARRY_OVER))
    assert alone(replace(own, verdict=Verdict.CALIBRATION))


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0.03, 4.0), "0.03 to 4.0 %"),
        ((-1.97, 1.96), "−1.97 to 1.96 %"),
        ((-0.004, 2.04), "−0.004 to 2.04 %"),
        ((0.0, 1.0), "0.0 to 1.0 %"),
    ],
)
def test_no_bound_is_rounded_onto_zero_or_the_margin(
    analysis: Analysis, ends: tuple[float, float], text: str
) -> None:
    (own,) = analysis.answer.verdicts()
    found = str(interval(replace(own, ci95_pct=ends), 0.02))
    assert found.replace("\u2212", "−").startswith(f"95 % CI {text}")


def test_the_tail_is_outside_the_correction_for_all_other_metrics(analysis: Analysis) -> None:
    by_metric = {c.metric: c for c in analysis.answer.comparisons}
    assert by_metric["latency_p99"].p_by is None
    assert by_metric["latency_p95"].p_by is not None
    assert analysis.answer.endpoints == (Endpoint("latency_p99", 0.05),)


def test_endpoints_of_the_file_have_their_margins_and_share_the_error() -> None:
    plan = make_plan(spec_with('endpoints = { p99 = "10%", failures = "0.5%" }'))
    assert plan.endpoints == (Endpoint("latency_p99", 0.10), Endpoint("failed_share", 0.005))
    assert make_plan(spec_with('endpoints = ["p95"]')).endpoints == (Endpoint("latency_p95", 0.05),)
    assert make_plan(spec_with("endpoints = []")).endpoints == ()
    assert make_plan(spec_with('metric = "latency_p95"')).endpoints == ()
    rule = rule_of(plan)
    shared = rule.of_endpoint(plan.endpoints[0], of=2)
    assert (shared.smallest_effect, shared.simultaneous) == (0.10, 2 * rule.simultaneous)


def spec_with(line: str) -> Spec:
    return parse_spec(f"{SPEC}{line}\n", source="wal.toml", beside=Path())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('endpoints = ["failure"]', "'failure' is not an endpoint; did you mean failures"),
        ('endpoints = ["p99", "p99"]', "'p99' is named twice"),
        ('endpoints = ["tps"]', "'tps' is the primary metric already"),
        ('endpoints = ["p50", "p95", "p99", "wal", "cpu"]', "4 at most"),
    ],
)
def test_wrong_endpoints_are_refused_by_key(line: str, problem: str) -> None:
    with pytest.raises(SpecError) as raised:
        make_plan(spec_with(line))
    assert problem in str(raised.value)
    assert "design" in str(raised.value)
