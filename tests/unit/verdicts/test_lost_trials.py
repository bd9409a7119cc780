"""Trials without a figure take no side; of one arm oftener than chance, they take its verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.analyse import answer_of, behaviour_of
from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.judge import answered
from pgassay.analysis.model import Analysis, RunFacts, TrialMeasures, Verdict
from pgassay.findings.registry import find
from pgassay.notes import Note, legacy
from pgassay.plan.model import Plan
from pgassay.samples.run_directory import RunDirectory
from pgassay.trials.model.record import FailedTrial
from support.notes import codes_in, values_in
from support.synthetic.courses import plan_with, trials_with
from support.synthetic.failed_trials import FIVE, plan_of, trials_of, warnings_of

RULE = "analysis/verdicts/"
LOST = legacy("trial 3: 8 of 8 connections were lost; is the server still up?")


def invalidated(
    trials: list[TrialMeasures], plan: Plan, arm: str, count: int
) -> list[TrialMeasures]:
    """The arm's first trials do not count, and each was run again."""
    first = [trial for trial in trials if trial.arm == arm][:count]
    again = [
        replace(trial, number=len(plan.trials) + place, position=9, repeats=trial.number)
        for place, trial in enumerate(first, 1)
    ]
    bad = {trial.number for trial in first}
    lost = [
        replace(t, invalid=(legacy("the server restarted"),)) if t.number in bad else t
        for t in trials
    ]
    return lost + again


def broken(arm: str, count: int) -> list[FailedTrial]:
    """So many planned trials of an arm, once each."""
    return [FailedTrial(100 + at, 2, arm, LOST) for at in range(count)]


def by_arm(*counts: int) -> tuple[Note, ...]:
    """How many of each level, as caveats count them."""
    return tuple(
        Note.of(f"{RULE}of-arm", count=count, label=f"max_wal_size = {level}")
        for count, level in zip(counts, FIVE, strict=False)
    )


def test_an_arm_that_loses_six_trials_while_the_other_loses_none_has_no_verdict() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    for lost, failed in (
        (invalidated(trials, plan, "a2", 6), ()),
        (invalidated(trials, plan, "a2", 3), broken("a2", 3)),
        (trials, broken("a2", 6)),
    ):
        analysis = Analysis(answer_of("?", plan, lost, failed=failed))
        (verdict,) = analysis.answer.verdicts()
        assert (verdict.verdict, verdict.withdrawn) == (Verdict.UNDECIDED, Withdrawn.LOST_TRIALS)
        (note,) = warnings_of(analysis, "lost-trials")
        assert values_in(note)[f"{RULE}lost-trials"] == {"counts": by_arm(0, 6)}
        assert note.code == f"{RULE}lost-trials-withdrawn"
        assert note.values["named"] == ("max_wal_size = 2GB",)
        said = codes_in(find(analysis, RunFacts())[0].claim)
        assert "findings/answer/verdicts/withdrawn.lost-trials" in said


def test_trials_lost_by_chance_are_reported_and_withdraw_nothing() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    analysis = Analysis(answer_of("?", plan, trials, failed=[*broken("a2", 3), *broken("a1", 1)]))
    assert analysis.answer.verdicts()[0].verdict is Verdict.BETTER
    (note,) = warnings_of(analysis, "failed-trials")
    assert (note.code, note.values["n"]) == (f"{RULE}failed-trials", 4)
    assert note.values["items"] == (LOST,)
    assert values_in(note)[f"{RULE}in-brackets"] == {"items": by_arm(1, 3)}
    assert not warnings_of(analysis, "lost-trials")


def test_a_look_uses_no_later_trials() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    early = broken("a2", 6)
    assert answered(plan, 8, trials)
    assert not answered(plan, 8, trials, early)
    later = [replace(one, block=9) for one in broken("a1", 6)]
    assert not answered(plan, 8, trials, [*early, *later])


def test_a_trial_that_was_tried_often_is_one() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    first = next(trial for trial in trials if trial.arm == "a2")
    again = FailedTrial(99, first.block, "a2", legacy("trial 99: no"), repeats=first.number)
    often = [replace(again, number=first.number, repeats=None)] * 6 + [again] * 3
    analysis = Analysis(answer_of("?", plan, invalidated(trials, plan, "a2", 1), failed=often))
    assert analysis.answer.verdicts()[0].verdict is Verdict.BETTER
    assert warnings_of(analysis, "failed-trials")
    assert not warnings_of(analysis, "lost-trials")


def test_one_arm_of_five_takes_its_own_verdict_only_and_the_baseline_takes_all() -> None:
    plan = plan_of(FIVE)
    trials = trials_of(plan, {}, ())
    for arm, taken in (("a3", ["3GB"]), ("a1", ["2GB", "3GB", "4GB", "5GB"])):
        analysis = Analysis(answer_of("?", plan, trials, failed=broken(arm, 4)))
        lost = [c.level for c in analysis.answer.verdicts() if c.withdrawn is Withdrawn.LOST_TRIALS]
        assert lost == taken


def test_an_idle_trial_withdraws_the_verdict_even_in_an_incomplete_block() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, [("a2", 4)])
    partner = [t for t in trials if not (t.arm == "a1" and t.block == 4)]
    analysis = Analysis(answer_of("?", plan, partner))
    (verdict,) = analysis.answer.verdicts()
    assert verdict.blocks == analysis.answer.blocks == 8
    assert verdict.withdrawn is Withdrawn.STANDSTILL


def test_what_was_noted_is_read_back_beside_a_line_cut_short(tmp_path: Path) -> None:
    run, path = RunDirectory(tmp_path), tmp_path / "failed.jsonl"
    assert run.failed() == ()
    one, other = broken("a1", 1)[0], FailedTrial(5, 3, "a2", legacy('the "server" — died'))
    run.note_failed(one)
    with path.open("a") as file:
        file.write('{"number": 4, "blo')
    run.note_failed(other)
    assert run.failed() == (one, other)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_trial_that_broke_off_without_a_reason_is_counted(tmp_path: Path) -> None:
    plan = plan_of()
    path = tmp_path / "failed.jsonl"
    path.write_text('{"number": 4, "block": 2, "arm": "a1", "reason": ""}\n')
    failed = RunDirectory(tmp_path).failed()
    assert [one.reason for one in failed] == [None]
    analysis = Analysis(answer_of("?", plan, trials_of(plan, {}, ()), failed=failed))
    (note,) = warnings_of(analysis, "failed-trials")
    assert note.values["items"] == ("not known",)


def test_a_fixed_number_that_has_not_all_run_has_no_verdict_and_a_sequence_has() -> None:
    fixed = plan_of(blocks=9)
    trials = trials_of(fixed, {"a2": 0.03}, ())
    assert (
        Analysis(answer_of("?", fixed, trials[:14])).answer.verdicts()[0].verdict is Verdict.BETTER
    )
    plan = replace(fixed, stopping="fixed", min_blocks=9)
    analysis = Analysis(answer_of("?", plan, trials[:14]))
    (verdict,) = analysis.answer.verdicts()
    assert (verdict.verdict, verdict.withdrawn) == (Verdict.UNDECIDED, Withdrawn.UNFINISHED)
    assert warnings_of(analysis, "unfinished") == [Note.of(f"{RULE}unfinished", n=4)]
    whole = Analysis(answer_of("?", plan, trials))
    assert whole.answer.verdicts()[0].verdict is Verdict.BETTER
    assert not warnings_of(whole, "unfinished")
    # A trial that does not count has run all the same.
    lost = [replace(t, invalid=(legacy("a backup ran"),)) if t.number == 18 else t for t in trials]
    assert not warnings_of(Analysis(answer_of("?", plan, lost)), "unfinished")
    # One that the run repeats, and has not yet.
    lost = [replace(trial, is_repeated=bool(trial.invalid)) for trial in lost]
    found = warnings_of(Analysis(answer_of("?", plan, lost)), "unfinished")
    assert found == [Note.of(f"{RULE}unfinished", n=1)]
    repeat = replace(whole_trial(trials, 18), number=19, repeats=18)
    assert not warnings_of(Analysis(answer_of("?", plan, [*lost, repeat])), "unfinished")


def whole_trial(trials: list[TrialMeasures], number: int) -> TrialMeasures:
    return next(trial for trial in trials if trial.number == number)


def test_curves_of_a_level_without_a_verdict_have_no_band() -> None:
    plan = plan_with(clients=(1, 2, 4, 8), blocks=9)
    source = np.random.default_rng(1)
    tps = {arm: 1000.0 * np.exp(noisy(source, 4)) for arm in ("a1", "a2")}
    tps["a2"] *= np.array([1.2, 1.1, 0.9, 0.8])
    curves = {"a1": np.exp(noisy(source, 11)), "a2": 0.7 * np.exp(noisy(source, 11))}
    trials = trials_with(plan, tps, curves)

    def curves_of(of: list[TrialMeasures]) -> Analysis:
        answer = answer_of("?", plan, of)
        return Analysis(answer, behaviour_of(plan, answer, []))

    alive = curves_of(trials)
    assert all(band is not None for band in alive.behaviour.quantile_shifts[0].band95_pct)
    assert alive.behaviour.by_load[0].crossings
    dead = [still(t) if (t.arm, t.block) == ("a2", 4) else t for t in trials]
    found = curves_of(dead)
    bands = [one.band95_pct for one in found.behaviour.quantile_shifts] + [
        found.behaviour.by_load[0].band95_pct
    ]
    assert {band for bands_of in bands for band in bands_of} == {None}
    refused = {one.refused for one in found.behaviour.quantile_shifts} | {
        found.behaviour.by_load[0].refused
    }
    assert refused == {Note("analysis/curves/withdrawn")}
    assert found.behaviour.by_load[0].crossings == ()
    of_dead = found.behaviour.load_curves[1]
    assert (of_dead.fit, set(of_dead.interval95)) == (None, {None})
    assert of_dead.refused == Note("analysis/curves/idle")
    assert found.behaviour.load_curves[0].refused is None
    answer = answer_of("?", plan, trials, failed=broken("a2", 6))
    broke = Analysis(answer, behaviour_of(plan, answer, []))
    assert [one.refused is None for one in broke.behaviour.load_curves] == [True, False]
    assert broke.behaviour.load_curves[1].fit is None
    assert alive.behaviour.load_curves[1].refused is None


def noisy(source: np.random.Generator, places: int) -> NDArray[np.float64]:
    return 0.01 * source.standard_normal((9, places))


def still(trial: TrialMeasures) -> TrialMeasures:
    """The same, without a commit."""
    nothing = [replace(one, transactions=0, values={}) for one in (trial.whole, *trial.steps)]
    whole = replace(nothing[0], latency_curve=None)
    return replace(trial, whole=whole, steps=tuple(nothing[1:]))
