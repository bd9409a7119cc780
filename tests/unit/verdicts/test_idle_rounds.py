"""Rounds that do not count: how many, of which arm, and when no verdict may rest on the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, make_design, make_trials
from scipy import stats

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.model import Analysis, SliceMeasures, TrialMeasures, Verdict
from pgassay.analysis.verdicts.idle_rounds import IdleRounds
from pgassay.findings.answer.verdicts import verdict_sentence
from pgassay.notes import Note
from support.synthetic.failed_trials import warnings_of

RULE = "analysis/verdicts/"
PLAN = make_design(4, 4, 32, 1)


def changed(change: Callable[[TrialMeasures, SliceMeasures], SliceMeasures]) -> list[TrialMeasures]:
    """Trials with an effect of 5 % (192 slices, 96 rounds), each slice changed."""
    trials = make_trials(PLAN, World("5 %", effect=0.05), np.random.default_rng(4))
    return [replace(t, turns=tuple(change(t, turn) for turn in t.turns)) for t in trials]


def idle(turn: SliceMeasures) -> SliceMeasures:
    return replace(turn, values={}, early={}, late={})


def test_the_first_round_left_out_is_reported_with_its_arm() -> None:
    analysis = Analysis(
        answer_of(
            "?",
            PLAN,
            changed(lambda t, u: idle(u) if (t.number, u.round, u.arm) == (1, 3, "a2") else u),
        )
    )
    (note,) = warnings_of(analysis, "idle-rounds")
    # Nothing is withdrawn: one is what chance brings where one in a hundred is allowed.
    by_arm = tuple(
        Note.of(f"{RULE}of-arm", count=count, label=f"synchronous_commit = {level}")
        for level, count in (("on", 0), ("off", 1))
    )
    assert note == Note.of(f"{RULE}idle-rounds", lost=1, rounds=96, by_arm=by_arm)
    assert analysis.answer.verdicts()[0].verdict is Verdict.BETTER


def test_an_arm_that_is_idle_in_a_third_of_its_slices_is_not_called_better() -> None:
    dead = changed(lambda _, u: idle(u) if u.arm == "a2" and u.round % 3 == 0 else u)
    analysis = Analysis(answer_of("?", PLAN, dead))
    (note,) = warnings_of(analysis, "idle-rounds")
    assert note.code == f"{RULE}idle-rounds-withdrawn"
    (verdict,) = analysis.answer.verdicts()
    assert verdict.verdict is Verdict.UNDECIDED
    assert (verdict.effect_pct or 0.0) > 3.0, "which is what it would say"
    off = next(arm for arm in analysis.answer.arms if arm.id == "a2")
    on = next(arm for arm in analysis.answer.arms if arm.id == "a1")
    assert off.means["tps"] < 0.8 * on.means["tps"], "an idle slice has a throughput of zero"


@pytest.mark.parametrize(("of_one", "of_other", "forbidden"), [(3, 3, False), (7, 0, True)])
def test_few_idle_rounds_forbid_a_verdict_where_one_arm_has_most_of_them(
    of_one: int, of_other: int, forbidden: bool
) -> None:
    found = IdleRounds(1000, of_one + of_other, {"a1": of_one, "a2": of_other})
    assert found.forbid_a_verdict is forbidden


@pytest.mark.parametrize(("rounds", "most"), [(16, 1), (96, 3), (400, 8), (1000, 15)])
def test_as_many_may_be_idle_as_one_in_a_hundred_explains(rounds: int, most: int) -> None:
    # The 95 % point of the binomial distribution with a share of 1 %.
    assert stats.binom.sf(most, rounds, 0.01) < 0.05 <= stats.binom.sf(most - 1, rounds, 0.01)
    for lost, forbidden in ((most, False), (most + 1, True)):
        idle_of = {"a1": (lost + 1) // 2, "a2": lost // 2}
        assert IdleRounds(rounds, lost, idle_of).forbid_a_verdict is forbidden


def test_a_run_ends_when_too_many_are_lost_for_the_rest_to_make_good() -> None:
    lost = {"a1": 3, "a2": 3}
    assert not IdleRounds(100, 6, lost, planned=1000).for_good
    assert IdleRounds(100, 6, lost, planned=200).for_good
    plan = make_design(4, 12, 32, 1)
    trials = make_trials(plan, World("5 %", effect=0.05), np.random.default_rng(4))[:4]
    dead = [
        replace(
            t, turns=tuple(idle(u) if u.arm == "a2" and u.round % 3 == 0 else u for u in t.turns)
        )
        for t in trials
    ]
    analysis = Analysis(answer_of("?", plan, dead))
    (verdict,) = analysis.answer.verdicts()
    assert verdict.withdrawn is Withdrawn.IDLE_ROUNDS
    assert not analysis.answer.decided()
    assert analysis.answer.may_end()
    sentence = verdict_sentence(verdict, analysis)
    assert sentence.code == "findings/answer/verdicts/withdrawn.idle-rounds"


def test_without_idle_rounds_there_is_no_caveat() -> None:
    analysis = Analysis(answer_of("?", PLAN, changed(lambda _, u: u)))
    assert {"idle-rounds", "few-rounds", "failures"}.isdisjoint(d.kind for d in analysis.warnings)
    assert analysis.answer.verdicts()[0].verdict is Verdict.BETTER


def test_a_trial_of_few_rounds_is_left_out_and_the_others_keep_their_interval() -> None:
    trials = changed(lambda _, u: u)
    trials[1] = replace(trials[1], turns=trials[1].turns[: 2 * 2])
    analysis = Analysis(answer_of("?", PLAN, trials))
    (verdict,) = analysis.answer.verdicts()
    assert verdict.ci95_pct is not None
    assert verdict.blocks == 3
    (note,) = warnings_of(analysis, "few-rounds")
    assert note == Note.of(f"{RULE}few-rounds", number=2, n=2, fewest=4)
    assert not warnings_of(analysis, "constant")
    assert not warnings_of(analysis, "missing-values")


def test_trials_that_all_have_few_rounds_are_not_said_not_to_vary() -> None:
    trials = [replace(t, turns=t.turns[: 2 * 3]) for t in changed(lambda _, u: u)]
    analysis = Analysis(answer_of("?", PLAN, trials))
    (note,) = warnings_of(analysis, "few-rounds")
    assert note == Note.of(f"{RULE}few-rounds-in-all", fewest=4)
    assert not warnings_of(analysis, "constant")


def test_arms_that_fail_differently_are_reported_with_their_shares() -> None:
    failing = changed(lambda _, u: replace(u, transactions=90, failed=10 * (u.arm == "a2")))
    (note,) = warnings_of(Analysis(answer_of("?", PLAN, failing)), "failures")
    assert note.values["by_arm"] == (
        Note.of(f"{RULE}share-of-arm", share=0.0, label="synchronous_commit = on"),
        Note.of(f"{RULE}share-of-arm", share=10.0, label="synchronous_commit = off"),
    )


def test_arms_that_fail_equally_often_are_not_reported() -> None:
    failing = changed(lambda _, u: replace(u, transactions=90, failed=10))
    assert not warnings_of(Analysis(answer_of("?", PLAN, failing)), "failures")
