"""Arms that commit nothing in some trials: no verdict rests on the others, and no run waits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.judge import answered
from pgassay.analysis.model import Analysis, RunFacts, StepMeasures, TrialMeasures, Verdict
from pgassay.findings.answer.endpoints import plain_badge
from pgassay.findings.model import FindingKind
from pgassay.findings.registry import find
from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec
from support.notes import notes_of, values_in
from support.synthetic.designs import plan_of_spec
from support.synthetic.failed_trials import FIVE, plan_of, trials_of, warnings_of


def test_an_arm_that_is_idle_in_three_of_nine_blocks_is_not_judged_by_the_other_six() -> None:
    plan = plan_of()
    alive = trials_of(plan, {"a2": 0.03}, ())
    assert Analysis(answer_of("?", plan, alive)).answer.verdicts()[0].verdict is Verdict.BETTER
    failed = trials_of(plan, {"a2": 0.03}, [("a2", 2), ("a2", 5), ("a2", 8)])
    analysis = Analysis(answer_of("?", plan, failed))
    (verdict,) = analysis.answer.verdicts()
    assert (verdict.verdict, verdict.withdrawn) == (Verdict.UNDECIDED, Withdrawn.STANDSTILL)
    assert verdict.blocks_to_decide is None
    idle = {"trials": 3, "of": 9, "arm": "max_wal_size = 2GB", "at": ""}
    (note,) = warnings_of(analysis, "standstill")
    assert values_in(note)["analysis/verdicts/idle-trials"] == idle
    assert note.code == "analysis/verdicts/standstill-withdrawn"
    assert note.values["named"] == ("max_wal_size = 2GB",)
    assert not warnings_of(analysis, "missing-values")
    (claim,) = [f.claim for f in find(analysis, RunFacts()) if f.kind is FindingKind.VERDICT]
    said = values_in(claim)
    assert "findings/answer/verdicts/withdrawn.standstill" in said
    assert said["analysis/verdicts/idle-trials"] == idle
    a2 = analysis.answer.arms[1]
    assert a2.means["tps"] == pytest.approx(1030.0 * 6 / 9, rel=0.01), "a failed trial has 0 tps"


def test_the_interval_of_a_mean_that_cannot_be_negative_begins_at_zero_at_the_least() -> None:
    plan = plan_of()
    idle = trials_of(plan, {}, [("a2", block) for block in range(1, 9)])
    low, high = Analysis(answer_of("?", plan, idle)).answer.arms[1].intervals["tps"]
    assert (low, high > 0.0) == (0.0, True)


def test_one_idle_trial_withdraws_all_metrics_but_the_failed_share() -> None:
    plan = plan_of()
    analysis = Analysis(answer_of("?", plan, trials_of(plan, {"a2": 0.03}, [("a2", 4)])))
    by_metric = {c.metric: c for c in analysis.answer.comparisons}
    assert by_metric["tps"].withdrawn is Withdrawn.STANDSTILL
    assert by_metric["latency_mean"].withdrawn is Withdrawn.STANDSTILL
    assert by_metric["failed_share"].withdrawn is None
    assert by_metric["failed_share"].blocks == 9


def test_one_idle_level_of_five_leaves_the_verdicts_of_the_others_unchanged() -> None:
    plan = plan_of(FIVE)
    effects = {"a2": 0.05, "a3": 0.0, "a4": -0.05, "a5": 0.1}
    with_all = {
        c.level: c
        for c in Analysis(answer_of("?", plan, trials_of(plan, effects, ()))).answer.verdicts()
    }
    analysis = Analysis(answer_of("?", plan, trials_of(plan, effects, [("a3", 1), ("a3", 7)])))
    found = {c.level: c for c in analysis.answer.verdicts()}
    assert found["3GB"].withdrawn is Withdrawn.STANDSTILL
    for level in ("2GB", "4GB", "5GB"):
        # The idle trials say nothing of their positions either.
        assert found[level].effect_pct == pytest.approx(with_all[level].effect_pct, abs=0.5)
        assert found[level].blocks == with_all[level].blocks
        assert found[level].verdict in (Verdict.BETTER, Verdict.WORSE)
        assert found[level].p_looks is not None
    assert analysis.answer.trends[0].verdict is Verdict.UNDECIDED, (
        "the failing level is on the line"
    )


def test_a_run_ends_when_all_levels_without_idle_trials_are_decided() -> None:
    plan = plan_of(FIVE[:3], blocks=24)
    failed = [("a3", block) for block in range(1, 25, 4)]
    trials = trials_of(plan, {"a2": 0.05, "a3": 0.05}, failed)
    ends = [b for b in range(1, 25) if answered(plan, b, [t for t in trials if t.block <= b])]
    alone = plan_of(FIVE[:2], blocks=24)
    without = trials_of(alone, {"a2": 0.05}, ())
    decided = [b for b in range(1, 25) if answered(alone, b, [t for t in without if t.block <= b])]
    assert ends[0] <= decided[0] + 2, "two verdicts share the error"
    still_open = trials_of(plan, {"a2": 0.02}, failed, noise=0.2)
    assert not answered(plan, 8, [t for t in still_open if t.block <= 8])


@pytest.mark.parametrize("arms", [("a1",), ("a2",), ("a1", "a2")])
def test_a_run_with_an_arm_that_is_always_idle_ends_at_the_first_opportunity(
    arms: tuple[str, ...],
) -> None:
    plan = plan_of(blocks=24)
    trials = trials_of(plan, {}, [(arm, block) for arm in arms for block in range(1, 25)])
    first = [t for t in trials if t.block <= 6]
    assert not answered(plan, 5, [t for t in trials if t.block <= 5])
    assert answered(plan, 6, first)
    analysis = Analysis(answer_of("?", plan, first))
    assert analysis.answer.verdicts() == ()
    verdicts = [f for f in find(analysis, RunFacts()) if f.kind is FindingKind.VERDICT]
    assert verdicts[0].title == plain_badge(Verdict.UNDECIDED)
    said = values_in(verdicts[0].claim)
    assert "findings/answer/verdicts/withdrawn.never" in said
    idle = said["analysis/verdicts/idle-trials"]
    assert (idle["trials"], idle["of"]) == (6, 6)
    assert len(warnings_of(analysis, "standstill")) == len(arms)


def test_in_a_full_factorial_an_idle_arm_withdraws_every_verdict_it_is_part_of() -> None:
    plan = plan_of(more='fsync = ["on", "off"]')
    analysis = Analysis(answer_of("?", plan, trials_of(plan, {"a4": 0.1}, [("a4", 3)])))
    assert {c.withdrawn for c in analysis.answer.verdicts()} == {Withdrawn.STANDSTILL}
    assert all(effect.estimate.ci95_pct is None for effect in analysis.answer.simple_effects)
    assert analysis.answer.may_end()


def test_an_idle_step_has_no_verdict_and_whole_trials_keep_theirs() -> None:
    text = """
        [factors.postgres]
        max_wal_size = ["1GB", "2GB"]
        [load]
        clients = [2, 4]
        step = "10s"
        [design]
        seed = 1
        min_blocks = 6
        max_blocks = 6
    """
    plan = plan_of_spec(text)
    source = np.random.default_rng(3)
    trials = []
    for t in plan.trials:
        tps = 1000.0 * float(np.exp(0.05 * (t.arm == "a2") + 0.002 * source.standard_normal()))
        steps = tuple(StepMeasures(n, 0, 1, 10_000, {"tps": tps}) for n in (2.0, 4.0))
        if t.arm == "a2" and t.block == 2:
            steps = (steps[0], StepMeasures(4.0, 0, 1, 0, {}))
        whole = StepMeasures(None, 0, 1, 10_000, {"tps": tps})
        trials.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, steps, ()))
    analysis = Analysis(answer_of("?", plan, trials))
    withdrawn = {c.step: c.withdrawn for c in analysis.answer.verdicts()}
    assert withdrawn == {None: None, 2.0: None, 4.0: Withdrawn.STANDSTILL}
    assert analysis.answer.may_end()
    (note,) = warnings_of(analysis, "standstill")
    assert values_in(note)["analysis/verdicts/idle-trials"] == {
        "trials": 1,
        "of": 6,
        "arm": "max_wal_size = 2GB",
        "at": Note.of("plan/at-load", load=Note.of("plan/clients", n=4)),
    }


def test_an_aa_run_has_no_verdict_to_withdraw() -> None:
    spec = parse_spec(
        "[factors.postgres]\nfsync = ['on', 'off']\n[design]\nmin_blocks = 6\nseed = 1",
        source="lab.toml",
        beside=Path(),
    )
    plan = make_plan(spec, calibrates=True)
    analysis = Analysis(answer_of("?", plan, trials_of(plan, {}, [(plan.arms[1].id, 2)])))
    assert {c.verdict for c in analysis.answer.verdicts()} == {Verdict.CALIBRATION}
    (note,) = warnings_of(analysis, "standstill")
    assert note.code == "analysis/verdicts/standstill", "and withdraws nothing"


@pytest.mark.parametrize(
    ("margin", "failed", "is_told"),
    [
        (0.02, 0.9, False),
        (0.02, 1.1, True),
        (0.01, 0.6, True),
        (0.01, 0.4, False),
    ],
)
def test_arms_in_blocks_that_fail_differently_are_reported_as_in_a_switchback(
    margin: float, failed: float, is_told: bool
) -> None:
    plan = replace(plan_of(), smallest_effect=margin)
    trials = [
        replace(t, whole=replace(t.whole, values={**t.whole.values, "failed_share": share}))
        for t in trials_of(plan, {}, ())
        for share in [failed * (t.arm == "a2")]
    ]
    notes = warnings_of(Analysis(answer_of("?", plan, trials)), "failures")
    assert bool(notes) is is_told
    if is_told:
        last = notes_of(notes[0].values["by_arm"])[-1]
        assert last.values == {"share": pytest.approx(failed), "label": "max_wal_size = 2GB"}
