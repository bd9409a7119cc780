"""What limits a verdict stands in its badge and sentence: halves, lost trials, rare collapses, and
the typical trial where the mean is another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from bench.validate.within_trials.courses import course_of

from pgassay.analysis.analyse import answer_of, behaviour_of
from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.model import Analysis, RunFacts, TrialMeasures, Verdict
from pgassay.analysis.verdicts.collapses import collapse_outlook, most_unseen, trials_to_exclude
from pgassay.findings.answer.endpoints import badge, plain_badge
from pgassay.findings.answer.limits import collapse_line, limits, typical
from pgassay.findings.registry import find
from pgassay.notes import Importance, Value, legacy
from pgassay.plan.model import Plan
from pgassay.trials.model.record import FailedTrial
from support.notes import notes_of, values_in
from support.synthetic.failed_trials import FIVE, plan_of, trials_of


def with_halves(
    plan: Plan, first: float, second: float, metric: str = "tps", noise: float = 0.005
) -> Analysis:
    """A run whose second arm differs by so much in the halves of its trials, in logarithms."""
    source = np.random.default_rng(7)
    courses: list[TrialCourse] = []
    trials: list[TrialMeasures] = []
    for trial in trials_of(plan, {}, ()):
        values = 1000.0 * np.exp(noise * source.standard_normal(20))
        if trial.arm != "a1":
            values *= np.exp(np.repeat([first, second], 10))
        course = course_of(values, number=trial.number, arm=trial.arm)
        if metric != "tps":
            course = replace(course, transactions=np.full(20, 1000.0), latency_ms=values)
        courses.append(replace(course, block=trial.block))
        own = {**trial.whole.values, metric: float(values.mean())}
        trials.append(replace(trial, whole=replace(trial.whole, values=own)))
    answer = answer_of("?", plan, trials)
    return Analysis(answer, behaviour_of(plan, answer, courses))


RULE = "findings/answer/limits/"


def said(analysis: Analysis) -> tuple[str, dict[str, Mapping[str, Value]]]:
    """Badge of the first verdict; code → values of all that it claims."""
    found = find(analysis, RunFacts())[0]
    return found.heading, values_in(found.claim)


def halves(analysis: Analysis) -> tuple[str, object, object]:
    """Badge of the first verdict; its effects (%) in both halves of the measured time."""
    title, claimed = said(analysis)
    both = claimed[f"{RULE}halves.sentence"]
    first, second = (values_in(both[half])["findings/percent"] for half in ("first", "second"))
    return title, first["pct"], second["pct"]


def badges(analysis: Analysis) -> dict[str, Mapping[str, Value]]:
    """Code → values of all that the badge of the first verdict says."""
    return values_in(find(analysis, RunFacts())[0].title)


def test_an_effect_in_one_half_of_trials_is_better_on_average_only() -> None:
    analysis = with_halves(plan_of(), 0.06, 0.0)
    (found,) = analysis.behaviour.by_half
    assert (found.verdict, found.holds_in_both) == (Dependence.DEPENDS, False)
    assert found.first.effect_pct == pytest.approx(6.2, abs=0.5)
    assert found.second.effect_pct == pytest.approx(0.0, abs=0.5)
    assert found.change_pct == pytest.approx(-5.8, abs=0.5)
    shown = ("better on average", pytest.approx(6.2, abs=0.5), pytest.approx(0.0, abs=0.5))
    assert halves(analysis) == shown
    caveats = {one.kind: one.importance for one in analysis.warnings}
    assert caveats["difference-changes"] is Importance.VERDICT


def test_an_effect_that_is_clear_in_both_halves_keeps_its_badge_and_tells_both_sizes() -> None:
    analysis = with_halves(plan_of(), 0.12, 0.05)
    shown = ("better", pytest.approx(12.5, abs=0.5), pytest.approx(5.5, abs=0.5))
    assert halves(analysis) == shown
    caveats = {one.kind: one.importance for one in analysis.warnings}
    assert caveats["difference-changes"] is Importance.SIZE


def test_halves_that_cancel_are_equivalent_on_average_only() -> None:
    title, first, second = halves(with_halves(plan_of(), 0.03, -0.03))
    assert title == "equivalent on average"
    assert (first, second) == (pytest.approx(3.0, abs=1.0), pytest.approx(-3.0, abs=1.0))


def test_an_effect_that_lasts_says_nothing_of_halves() -> None:
    analysis = with_halves(plan_of(), 0.05, 0.05)
    assert analysis.behaviour.by_half[0].verdict in (Dependence.INDEPENDENT, Dependence.NEGLIGIBLE)
    title, claimed = said(analysis)
    assert title == "better"
    assert f"{RULE}halves.sentence" not in claimed


def test_halves_of_a_latency_are_those_of_the_latency() -> None:
    plan = replace(plan_of(), metric="latency_mean")
    analysis = with_halves(plan, 0.06, 0.0, metric="latency_mean")
    assert analysis.behaviour.by_half[0].metric == "latency_mean"
    assert said(analysis)[0] == "worse on average"
    assert with_halves(replace(plan, metric="latency_p99"), 0.06, 0.0).behaviour.by_half == ()


def test_halves_of_several_levels_share_their_error() -> None:
    two, five = (with_halves(plan_of(levels), 0.05, 0.05) for levels in (FIVE[:2], FIVE))
    assert len(five.behaviour.by_half) == 4
    widths = [one.behaviour.by_half[0].change_ci95_pct or (0.0, 0.0) for one in (two, five)]
    assert widths[1][1] - widths[1][0] > widths[0][1] - widths[0][0]


def broken(plan: Plan, arm: str, blocks: Sequence[int]) -> list[FailedTrial]:
    """Planned trials of an arm that were run again."""
    own = [one for one in plan.trials if one.arm == arm and one.block in blocks]
    return [FailedTrial(one.number, one.block, arm, legacy("the server died")) for one in own]


def test_losses_of_the_better_level_stand_in_badge_and_sentence() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    failed = broken(plan, "a2", (2, 5))
    analysis = Analysis(answer_of("?", plan, trials, failed=failed))
    (lost,) = analysis.answer.losses
    assert (lost.of_level, lost.lost, lost.planned) == ("2GB", 2, 9)
    assert badges(analysis)[f"{RULE}losses.level"] == {"lost": 2, "planned": 9}
    assert said(analysis)[1][f"{RULE}losses.faster"] == {
        "lost": 2,
        "planned": 9,
        "subject": "max_wal_size = 2GB",
        "metric": "Throughput",
        "size": abs(lost.tips_at_pct or 0.0),
    }
    (caveat,) = [one for one in analysis.warnings if one.kind == "failed-trials"]
    assert caveat.importance is Importance.VERDICT


def test_one_lost_trial_is_told_in_the_singular() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    _, claimed = said(Analysis(answer_of("?", plan, trials, failed=broken(plan, "a2", (2,)))))
    assert claimed[f"{RULE}losses.faster_one"]["planned"] == 9


def test_the_tipping_point_is_where_the_verdict_falls() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    (lost,) = Analysis(
        answer_of("?", plan, trials, failed=broken(plan, "a2", (2, 5)))
    ).answer.losses
    assert lost.tips_at_pct is not None

    def verdict_with(slower_pct: float) -> Verdict:
        moved = [
            replace(one, whole=replace(one.whole, values={
                **one.whole.values, "tps": one.whole.values["tps"] * (1.0 + slower_pct / 100.0),
            })) if one.arm == "a2" and one.block in (2, 5) else one
            for one in trials
        ]  # fmt: skip
        return Analysis(answer_of("?", plan, moved)).answer.verdicts()[0].verdict

    assert verdict_with(lost.tips_at_pct + 1.5) is Verdict.BETTER
    assert verdict_with(lost.tips_at_pct - 1.5) is not Verdict.BETTER


def test_losses_of_the_worse_level_limit_nothing() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, ())
    analysis = Analysis(answer_of("?", plan, trials, failed=broken(plan, "a1", (2, 5))))
    assert analysis.answer.losses == ()
    assert said(analysis)[0] == "better"
    (caveat,) = [one for one in analysis.warnings if one.kind == "failed-trials"]
    assert caveat.importance is Importance.SIZE
    slower = Analysis(answer_of("?", plan, trials_of(plan, {"a2": -0.03}, ()),
                     failed=broken(plan, "a1", (2, 5))))  # fmt: skip
    assert badges(slower)[f"{RULE}losses.baseline"] == {"lost": 2, "planned": 9}


def test_a_lost_trial_that_was_not_run_again_has_a_tipping_point_too() -> None:
    plan = plan_of()
    trials = [one for one in trials_of(plan, {"a2": 0.03}, ()) if (one.arm, one.block) != ("a2", 9)]
    (lost,) = Analysis(answer_of("?", plan, trials, failed=broken(plan, "a2", (9,)))).answer.losses
    assert (lost.lost, lost.planned) == (1, 9)
    assert lost.tips_at_pct is not None


def slowed(plan: Plan, arm: str, blocks: Sequence[int], times: float) -> Analysis:
    """A run whose second arm is 3 % faster, and whose trials of `arm` are slower in some blocks."""
    trials = [
        replace(one, whole=replace(one.whole, values={
            **one.whole.values, "tps": one.whole.values["tps"] * times,
        })) if one.arm == arm and one.block in blocks else one
        for one in trials_of(plan, {"a2": 0.03}, ())
    ]  # fmt: skip
    return Analysis(answer_of("?", plan, trials))


@pytest.mark.parametrize(
    ("arm", "times", "mean", "moved_by"),
    [
        ("a2", 0.7, -4.0, "lower"),
        ("a1", 0.7, 11.0, "higher"),
        ("a2", 1.4, 11.0, "higher"),
        ("a1", 1.4, -4.0, "lower"),
    ],
)
def test_the_typical_trial_stands_beside_a_mean_that_few_trials_move(
    arm: str, times: float, mean: float, moved_by: str
) -> None:
    analysis = slowed(plan_of(blocks=10), arm, (3, 8), times)
    (verdict,) = analysis.answer.verdicts()
    assert verdict.typical_pct == pytest.approx(3.0, abs=1.5)
    assert said(analysis)[1][f"{RULE}typical.{moved_by}"] == {
        "typical": verdict.typical_pct,
        "mean": pytest.approx(mean, abs=1.0),
    }


def test_the_typical_trial_is_known_and_not_told_where_the_mean_is_the_same() -> None:
    plan = plan_of()
    analysis = Analysis(answer_of("?", plan, trials_of(plan, {"a2": 0.03}, ())))
    (verdict,) = analysis.answer.verdicts()
    assert verdict.typical_pct == pytest.approx(verdict.effect_pct, abs=0.3)
    assert not any("typical" in code for code in said(analysis)[1])
    assert {c.typical_pct for c in analysis.answer.comparisons if c.metric != "tps"} == {None}


@pytest.mark.parametrize(
    ("usual", "effect", "shown"),
    # Of a level 18 times as fast, 15 points are less than a hundredth of its throughput.
    [(5.5, 3.0, 5.5), (4.5, 3.0, None), (-52.5, -50.0, -52.5), (1715.0, 1700.0, None),
     (1750.0, 1700.0, 1750.0)],
)  # fmt: skip
def test_the_typical_trial_differs_by_a_share_of_the_larger_mean(
    usual: float, effect: float, shown: float | None
) -> None:
    plan = plan_of()
    analysis = Analysis(answer_of("?", plan, trials_of(plan, {"a2": 0.03}, ())))
    (verdict,) = analysis.answer.verdicts()
    assert typical(replace(verdict, typical_pct=usual, effect_pct=effect), 0.02) == shown


def test_a_withdrawn_verdict_and_one_of_four_blocks_have_no_typical_trial() -> None:
    plan = plan_of()
    trials = trials_of(plan, {"a2": 0.03}, [("a2", 3)])
    (withdrawn,) = Analysis(answer_of("?", plan, trials)).answer.verdicts()
    assert (withdrawn.withdrawn is not None, withdrawn.typical_pct) == (True, None)
    few = [one for one in trials_of(plan, {"a2": 0.03}, ()) if one.block <= 4]
    (verdict,) = Analysis(answer_of("?", plan, few)).answer.verdicts()
    assert (verdict.blocks, verdict.typical_pct) == (4, None)


def test_equivalence_says_how_often_a_collapse_could_have_stayed_unseen() -> None:
    plan = plan_of(blocks=6)
    analysis = Analysis(answer_of("?", plan, trials_of(plan, {}, ())))
    (limit,) = analysis.answer.collapses
    assert (limit.blocks, limit.seen) == (6, 0)
    assert limit.most_pct == pytest.approx(39.3, abs=0.05)
    assert said(analysis)[1][f"{RULE}collapses.unseen"]["blocks"] == 6
    (verdict,) = analysis.answer.verdicts()
    assert badge(verdict, analysis) == plain_badge(Verdict.EQUIVALENT)
    better = Analysis(answer_of("?", plan, trials_of(plan, {"a2": 0.05}, ())))
    assert better.answer.collapses == ()


def test_a_collapse_that_was_seen_raises_the_limit() -> None:
    plan = plan_of(blocks=40)
    trials = trials_of(plan, {}, ())
    first = next(one for one in trials if one.arm == "a2")
    slow = {**first.whole.values, "tps": 0.8 * first.whole.values["tps"]}
    trials[trials.index(first)] = replace(first, whole=replace(first.whole, values=slow))
    analysis = Analysis(answer_of("?", plan, trials))
    (limit,) = analysis.answer.collapses
    assert (limit.blocks, limit.seen) == (40, 1)
    assert limit.most_pct == pytest.approx(100.0 * most_unseen(40, 1))
    (verdict,) = analysis.answer.verdicts()
    said = limits(verdict, analysis)[-1]
    assert said.code == "findings/answer/limits/collapses.seen"
    assert (said.values["subject"], said.values["seen"]) == ("max_wal_size = 2GB", 1)


def test_the_exact_limit_and_the_trials_that_reach_it() -> None:
    assert most_unseen(6) == pytest.approx(1.0 - 0.05 ** (1 / 6))
    assert most_unseen(10, 10) == 1.0
    assert trials_to_exclude(0.10) == 29
    assert most_unseen(29) <= 0.10 < most_unseen(28)


def test_a_plan_says_how_many_trials_exclude_a_collapse() -> None:
    outlook = collapse_outlook(plan_of(blocks=24))
    assert outlook is not None
    line = collapse_line(outlook)
    assert line.values["blocks"] == 6
    assert line.values["most"] == pytest.approx(39.3, abs=0.05)
    last = {"blocks": 24, "most": pytest.approx(11.7, abs=0.05)}
    assert values_in(line)[f"{RULE}outlook.last"] == last
    needed = [one.values for one in notes_of(line.values["needed"])]
    assert [one["trials"] for one in needed] == [29, 59, 299]
    assert [one["most"] for one in needed] == pytest.approx([10.0, 5.0, 1.0])
