"""A verdict's sentence goes on with the 99th percentile, and claims no more than it holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgassay.analysis.analyse import analyse
from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import Analysis, Comparison, Verdict
from pgassay.findings.answer.verdicts import with_tail
from support.synthetic.directories import synthetic_run


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    run, spec, plan = synthetic_run(tmp_path_factory.mktemp("tail") / "run", effects={"a2": 0.12})
    return analyse(spec.question, plan, [measure_trial(trial) for trial in run.trials()])


def sentence_with(
    analysis: Analysis, verdict: Verdict, effect: float, interval: tuple[float, float] | None
) -> str:
    """The sentence where the 99th percentile came out so."""
    changed = tuple(
        replace(c, verdict=verdict, effect_pct=effect, ci95_pct=interval)
        if c.metric == "latency_p99" and c.step is None
        else c
        for c in analysis.comparisons
    )
    (own,) = analysis.verdicts()
    return with_tail("It is faster.", own, replace(analysis, comparisons=changed))


@pytest.mark.parametrize(
    ("verdict", "effect", "interval", "text"),
    [
        (Verdict.BETTER, -12.34, (-15.0, -9.5), "12.3 % lower (95 % CI −15.0 to −9.5 %)"),
        (Verdict.WORSE, 40.0, (30.0, 51.0), "40.0 % higher (95 % CI 30.0 to 51.0 %)"),
        (Verdict.UNDECIDED, 1.0, (-2.0, 4.9), "equivalent within 5 %"),
        (Verdict.UNDECIDED, 1.0, (-3.0, 5.1), "undecided (95 % CI −3.0 to 5.1 %)"),
        (
            Verdict.UNDECIDED,
            -8.0,
            (-15.9, -0.8),
            "undecided (95 % CI −15.9 to −0.8 %; among so many metrics this may be chance)",
        ),
    ],
)
def test_the_tail_is_given_with_its_interval_or_its_margin(
    analysis: Analysis, verdict: Verdict, effect: float, interval: tuple[float, float], text: str
) -> None:
    found = sentence_with(analysis, verdict, effect, interval)
    assert found.replace("\u2212", "−") == f"It is faster; p99 latency is {text}."


def test_a_tail_without_an_interval_is_left_out(analysis: Analysis) -> None:
    assert sentence_with(analysis, Verdict.UNDECIDED, 3.0, None) == "It is faster."


def test_the_margin_is_never_smaller_than_the_smallest_effect_that_matters(
    analysis: Analysis,
) -> None:
    wide = replace(analysis, smallest_effect=0.10)
    text = sentence_with(wide, Verdict.UNDECIDED, 1.0, (-9.0, 9.0))
    assert text == "It is faster; p99 latency is equivalent within 10 %."


def test_verdicts_about_the_tail_of_a_step_or_withdrawn_stand_alone(analysis: Analysis) -> None:
    (own,) = analysis.verdicts()

    def alone(verdict: Comparison) -> bool:
        return with_tail("It is so.", verdict, analysis) == "It is so."

    assert not alone(own)
    assert alone(replace(own, step=8.0))
    assert alone(replace(own, metric="latency_p99"))
    assert alone(replace(own, withdrawn=Withdrawn.CARRY_OVER))
    assert alone(replace(own, verdict=Verdict.CALIBRATION))
