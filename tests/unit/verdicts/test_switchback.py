"""Rounds of slices: how sure their mean is, what carries over, and what a report says of it."""

from __future__ import annotations

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, count, make_design, make_trials
from bench.validate.looks import conclude

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.alternating.rounds import spread_of_rounds
from pgassay.analysis.model import Analysis, Verdict
from pgassay.findings.answer.verdicts import verdict_sentence
from pgassay.findings.wording import interval
from pgassay.notes import Note


def test_independent_rounds_have_students_standard_error() -> None:
    values = np.random.default_rng(1).standard_normal(400) + 3.0
    spread = spread_of_rounds(values, np.ones(400, dtype=np.int64))
    assert spread.mean == pytest.approx(values.mean())
    assert spread.error == pytest.approx(values.std(ddof=1) / 20.0, rel=0.15)
    assert 300 < spread.units < 401


def test_autocorrelated_rounds_count_for_fewer() -> None:
    source = np.random.default_rng(2)
    series = np.zeros(400)
    for at in range(1, 400):
        series[at] = 0.7 * series[at - 1] + source.standard_normal()
    spread = spread_of_rounds(series, np.ones(400, dtype=np.int64))
    assert spread.error is not None
    # √((1 + 0.7) / (1 − 0.7)) is 2.4.
    assert 1.8 < spread.error / (series.std(ddof=1) / 20.0) < 3.0


def test_trials_that_differ_more_than_their_rounds_determine_the_error() -> None:
    source = np.random.default_rng(3)
    means = np.array([0.0, 1.0, -1.0, 2.0, -2.0])
    trials = np.repeat(np.arange(5), 50)
    spread = spread_of_rounds(means[trials] + 0.1 * source.standard_normal(250), trials)
    assert spread.error == pytest.approx(means.std(ddof=1) / np.sqrt(5), rel=0.05)
    assert spread.units == pytest.approx(5.0, abs=0.1)


def test_rounds_that_do_not_vary_or_are_few_have_no_error() -> None:
    assert spread_of_rounds(np.full(20, 0.5), np.ones(20, dtype=np.int64)).error is None
    assert spread_of_rounds(np.arange(3.0), np.ones(3, dtype=np.int64)).error is None


@pytest.mark.parametrize("memory", [0.0, 0.95])
def test_identical_arms_are_seldom_called_different(memory: float) -> None:
    found = count(World("a host that remembers", memory=memory), 20, 4, 4, 16)
    assert found.missed <= 4  # of 20, where 1 is to be expected
    assert found.carry_over <= 4


def test_an_effect_is_found_and_its_interval_holds_it() -> None:
    found = count(World("5 %", effect=0.05, drift=0.0005), 10, 4, 12, 32)
    assert found.different >= 8
    assert found.missed <= 2


def test_swapping_the_arms_turns_the_sign_of_the_effect() -> None:
    plan = make_design(4, 4, 32, 1)
    trials = make_trials(plan, World("5 %", effect=0.05), np.random.default_rng(4))
    (one,) = Analysis(answer_of("?", plan, trials)).answer.verdicts()
    assert one.verdict is Verdict.BETTER
    assert one.rounds == 2 * (16 + 32)
    assert one.blocks == 4
    assert len(one.block_effects_pct) == 4


def test_an_effect_that_outlasts_its_slice_withdraws_the_verdict_and_says_so() -> None:
    plan = make_design(6, 6, 64, 1)
    world = World("half after a second", effect=0.2, lasts_s=1.44)
    analysis = Analysis(answer_of("?", plan, make_trials(plan, world, np.random.default_rng(5))))
    (verdict,) = analysis.answer.verdicts()
    assert any(test.found for test in analysis.answer.carry_over)
    assert any(warning.kind == "carry-over" for warning in analysis.warnings)
    if any(test.outweighs for test in analysis.answer.carry_over):
        assert verdict.verdict is Verdict.UNDECIDED


def test_a_sentence_names_rounds_and_blocks() -> None:
    plan = make_design(4, 4, 32, 1)
    world = World("5 %", effect=0.05)
    analysis, _ = conclude(plan, make_trials(plan, world, np.random.default_rng(9)))
    (verdict,) = analysis.verdicts()
    blocks = interval(verdict).values["blocks"]
    assert blocks == Note.of("findings/rounds", rounds=96, blocks=Note.of("findings/blocks", n=4))
    sentence = verdict_sentence(verdict, Analysis(analysis))
    assert sentence.values["subject"] == "synchronous_commit = off"
