"""Verdicts on sets of queries: what is claimed, and what holds for all of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import geometric_mean

import numpy as np
import pytest

from pgassay.analysis.analyse import _calls, answer_of
from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.judge import after_block
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.model import RunFacts
from pgassay.analysis.queries.effects import query_set
from pgassay.analysis.queries.model import QueryCosts, QueryEffect, QuerySet, TrialQueries
from pgassay.analysis.statistics.moderation import moderated
from pgassay.analysis.statistics.sequential import sign_evidence
from pgassay.plan.model import Plan
from pgassay.plan.whole_loads import QuerySet as QuerySetPlan
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.spec.endpoints import OF_QUERIES
from support.synthetic.designs import plan_of_levels
from support.synthetic.plans import plan as explained
from support.synthetic.plans import scan
from support.synthetic.trials import trials_of

PLAN = plan_of_levels(least=6, design="mode = 'blocks'\nsmallest_effect = 0.1")


def trials(
    plan: Plan,
    queries: int,
    source: np.random.Generator,
    truth: Mapping[str, float] | None = None,
) -> list[TrialQueries]:
    """Times that scatter by 3 %; those of the level are as much larger as `truth` says."""
    found = []
    for trial in plan.trials:
        noise = 0.03 * source.standard_normal(queries)
        times = {f"q{at}": 10.0 * (at + 1) * math.exp(noise[at]) for at in range(queries)}
        for name, change in (truth or {}).items() if trial.arm != "a1" else ():
            times[name] *= 1.0 + change
        found.append(TrialQueries(trial.number, trial.block, trial.arm, times))
    return found


def judged(found: list[TrialQueries], plan: Plan = PLAN) -> QuerySet:
    made = query_set(plan, found)
    assert made is not None
    return made


def test_sets_in_which_nothing_differs_have_few_claims_and_hold_the_truth() -> None:
    source = np.random.default_rng(36)
    claims = misses = 0
    for _ in range(60):
        effects = judged(trials(PLAN, 22, source)).effects
        claims += any(one.verdict in (Verdict.BETTER, Verdict.WORSE) for one in effects)
        misses += any(not one.ci95_pct or one.ci95_pct[0] * one.ci95_pct[1] > 0 for one in effects)
    assert claims <= misses <= 6


def test_true_changes_are_found_among_sixty_and_the_rest_is_the_same() -> None:
    truth = {"q3": 0.4, "q59": -0.3}
    found = judged(trials(PLAN, 60, np.random.default_rng(1), truth))
    told = {one.query: one.verdict for one in found.effects}
    assert told.pop("q3") is Verdict.WORSE
    assert told.pop("q59") is Verdict.BETTER
    assert set(told.values()) <= {Verdict.EQUIVALENT, Verdict.UNDECIDED}
    assert [one.query for one in found.effects][:1] == ["q59"]
    (summary,) = found.summaries
    assert (summary.better, summary.worse, summary.compared) == (1, 1, 60)
    assert summary.total_ms is not None
    assert summary.baseline_total_ms is not None
    assert summary.total_ms < summary.baseline_total_ms


def test_calls_order_the_queries_and_weigh_the_whole_time() -> None:
    found = trials(PLAN, 4, np.random.default_rng(8), {"q0": 0.5, "q3": -0.3})
    weighted = query_set(PLAN, found, {"q0": 1000.0, "q1": 10.0})
    assert weighted is not None
    assert [(one.query, one.weight) for one in weighted.effects[:1]] == [("q0", 1000.0)]
    assert {one.query for one in weighted.effects if one.weight} == {"q0", "q1"}
    (summary,) = weighted.summaries
    assert summary.total_pct == pytest.approx(49, abs=5)
    assert summary.total_ci95_pct is not None
    assert 0.0 < summary.total_ci95_pct[0] < 49.0 < summary.total_ci95_pct[1]


def test_a_file_says_the_calls_of_its_query_alone_those_of_an_hour_beside_counted_ones() -> None:
    plan = replace(PLAN, queries=QuerySetPlan(3, 3, calls={"q0": 100.0}))
    counted = {"calls": {"q0": 7, "q1": 50}, "since": "2026-01-01T00:00:00+00:00"}
    until = {"created_at": "2026-01-01T10:00:00+00:00"}
    found = {"query_calls": counted, **until}
    facts = RunFacts(environment=EnvironmentFile.model_validate(found))
    assert _calls(plan, facts) == {"q0": 1000.0, "q1": 50.0}
    assert _calls(plan, RunFacts()) == {"q0": 100.0}
    assert _calls(replace(plan, queries=QuerySetPlan(3, 3)), RunFacts()) is None


def test_a_query_that_fails_in_one_arm_alone_is_worse_and_in_no_mean() -> None:
    found = trials(PLAN, 12, np.random.default_rng(2))
    failing = []
    for one in found:
        ms = {name: value for name, value in one.ms.items() if name != "q5" or one.arm == "a1"}
        failed = {} if one.arm == "a1" else {"q5": {"57014": 3}}
        failing.append(TrialQueries(one.number, one.block, one.arm, ms, failed=failed))
    whole = judged(failing)
    (effect,) = (one for one in whole.effects if one.query == "q5")
    assert effect.verdict is Verdict.WORSE
    assert effect.failures.errors == {"57014": 18}
    assert whole.failed == ("q5",)
    assert whole.summaries[0].compared == 11


def test_a_query_that_fails_now_and_then_has_no_interval() -> None:
    found = trials(PLAN, 12, np.random.default_rng(3), {"q5": -0.5})
    first = next(one for one in found if one.arm != "a1")
    failed = {"q5": {"57014": 1}}
    found[found.index(first)] = TrialQueries(
        first.number, first.block, first.arm, first.ms, failed=failed
    )
    (effect,) = (one for one in judged(found).effects if one.query == "q5")
    assert (effect.verdict, effect.ci95_pct) == (Verdict.UNDECIDED, None)


def test_a_run_goes_on_until_the_failures_of_a_query_decide_or_cannot() -> None:
    plan = replace(
        plan_of_levels(least=6, most=24, design="mode = 'blocks'\nsmallest_effect = 0.1"),
        metric=OF_QUERIES,
        endpoints=(),
    )

    def last_with(failing: Callable[[TrialQueries], bool]) -> tuple[int, QueryEffect]:
        found = [
            replace(one, failed={"q5": {"57014": 1}} if failing(one) else {})
            for one in trials(plan, 12, np.random.default_rng(2))
        ]
        every = measured(plan, found)
        for block in range(6, 25):
            seen = [one for one in every if one.block <= block]
            if after_block(plan, block, seen) is None:
                break
        answer = answer_of("", plan, seen)
        assert answer.queries is not None
        return block, next(one for one in answer.queries.effects if one.query == "q5")

    block, effect = last_with(lambda one: one.arm != "a1" and one.block > 1)
    assert (block, effect.verdict) == (12, Verdict.WORSE)
    block, effect = last_with(lambda one: one.arm == "a1" and one.block > 1)
    assert (block, effect.verdict) == (12, Verdict.BETTER)
    block, effect = last_with(lambda one: one.block in (1, 4))
    assert block < 12, "as often at both levels"
    assert (effect.verdict, effect.blocks_to_decide) == (Verdict.UNDECIDED, None)


def test_failures_alike_in_both_arms_seldom_decide_at_any_look() -> None:
    signs = np.random.default_rng(36).random((2000, 40)) < 0.5
    more = signs.cumsum(axis=1)
    bound = math.log(20.0)
    cache = {(a, n): sign_evidence(a, n - a) >= bound for n in range(1, 41) for a in range(n + 1)}
    ever = [any(cache[int(a), n] for n, a in enumerate(row, start=1)) for row in more]
    assert 0.01 < np.mean(ever) <= 0.05


def test_blocks_that_never_vary_are_known_and_another_plan_is_seen() -> None:
    slow, fast = explained(scan("item")), explained(scan("item", "item_pkey"))
    found = []
    for one in trials(PLAN, 2, np.random.default_rng(4)):
        at_baseline = one.arm == "a1"
        wal = 0.0 if at_baseline else 80.0
        costs = QueryCosts(
            hit=200.0 if at_baseline else 50.0,
            read=0.0,
            wal_bytes=wal,
            dirtied=float(one.block % 2),
            rows=7.0,
        )
        plans = {"q0": slow if at_baseline else fast, "q1": slow}
        found.append(TrialQueries(one.number, one.block, one.arm, one.ms, {"q0": costs}, plans))
    by_name = {one.query: one for one in judged(found).effects}
    change = by_name["q0"].cost_changes["blocks"]
    assert list(change.ci95_pct or ()) == pytest.approx([-75.0, -75.0])
    differs = {name: one.differs for name, one in by_name["q0"].cost_changes.items()}
    assert differs == {"blocks": True, "wal_bytes": True, "dirtied": False, "rows": False}
    assert {type(one) for one in differs.values()} == {bool}, "numpy's own is not written as JSON"
    assert by_name["q0"].plan_differs is True
    assert by_name["q1"].plan_differs is False
    planned = by_name["q0"].plan_change
    assert planned is not None
    assert [one.code for one in planned.reasons] == ["analysis/plans/index-used"]
    assert by_name["q1"].plan_change is None
    assert not by_name["q1"].cost_changes


def test_variances_are_never_made_smaller_and_few_or_unlike_ones_gain_nothing() -> None:
    source = np.random.default_rng(5)
    alike = source.chisquare(5, 60) / 5
    larger, gained = moderated(alike, 5.0)
    assert np.all(larger >= alike)
    assert gained == 10.0
    _unlike, gained = moderated(alike * np.exp(3.0 * source.standard_normal(60)), 5.0)
    assert gained < 1.0
    few, gained = moderated(alike[:9], 5.0)
    assert gained == 0.0
    assert np.array_equal(few, alike[:9])


def measured(plan: Plan, found: list[TrialQueries]) -> list[TrialMeasures]:
    """The queries as trials of a run, whose metric is their geometric mean."""
    return [
        replace(
            one,
            whole=replace(one.whole, values={OF_QUERIES: geometric_mean(queries.ms.values())}),
            queries=(queries,),
        )
        for queries in found
        for one in trials_of(plan)
        if one.number == queries.number
    ]


def test_a_set_says_of_its_geometric_mean_what_the_verdict_of_the_run_says() -> None:
    found = trials(PLAN, 12, np.random.default_rng(6))
    answer = answer_of("", replace(PLAN, metric=OF_QUERIES, endpoints=()), measured(PLAN, found))
    (verdict,) = answer.verdicts()
    assert answer.queries is not None
    (summary,) = answer.queries.summaries
    assert (summary.mean_pct, summary.mean_ci95_pct) == (verdict.effect_pct, verdict.ci95_pct)


def test_decided_queries_rest_while_the_open_ones_are_executed_more_often() -> None:
    names = [f"q{at}" for at in range(12)]
    plan = replace(
        plan_of_levels(least=6, most=24, design="mode = 'blocks'\nsmallest_effect = 0.1"),
        metric=OF_QUERIES,
        endpoints=(),
        queries=QuerySetPlan(12, None, dict.fromkeys(names, 10)),
    )
    source = np.random.default_rng(3)
    noisy = [
        replace(one, ms={**one.ms, "q0": one.ms["q0"] * math.exp(0.05 * source.standard_normal())})
        for one in trials(plan, 12, source)
    ]
    now, ran, last = plan, list[TrialMeasures](), 0
    for block in range(1, 25):
        executed = now.block(block)[0].queries
        found = [
            replace(one, ms={name: one.ms[name] for name in executed})
            for one in noisy
            if one.block == block
        ]
        ran += measured(now, found)
        following = after_block(now, block, ran)
        if following is None:
            last = block
            break
        now = following
    assert now.queries is not None
    first = now.queries.open_alone[0]
    assert 6 < first.since <= last < 24
    assert set(first.repeats) < set(names)
    assert 10 < first.repeats["q0"] <= 30
    answer = answer_of("", now, ran)
    before = answer_of("", plan, [one for one in ran if one.block < first.since])
    assert answer.queries is not None
    assert before.queries is not None
    assert answer.verdicts() == before.verdicts(), "the geometric mean is of whole blocks"
    at_first = {one.query: one for one in before.queries.effects}
    for one in answer.queries.effects:
        assert one.query in first.repeats or one == at_first[one.query], "a verdict stays"
    assert {one.block for one in answer.partial_trials} == {*range(first.since, last + 1)}
    # A run that is resumed has the later blocks in its plan, and decides as it did.
    for block in range(1, last):
        assert after_block(now, block, [one for one in ran if one.block <= block]) == now


def test_a_run_goes_on_while_the_blocks_that_are_left_would_decide_a_query() -> None:
    plan = replace(
        plan_of_levels(least=6, most=24, design="mode = 'blocks'\nsmallest_effect = 0.1"),
        metric=OF_QUERIES,
        endpoints=(),
    )

    def ends_at(scatter: float) -> int:
        """The block after which the run ends, where one of 12 queries scatters by so much."""
        source = np.random.default_rng(3)
        found, ms = trials(plan, 12, source), list[TrialQueries]()
        for one in found:
            noise = math.exp(scatter * source.standard_normal())
            ms.append(replace(one, ms={**one.ms, "q0": one.ms["q0"] * noise}))
        every, now = measured(plan, ms), plan
        for block in range(1, 25):
            following = after_block(now, block, [one for one in every if one.block <= block])
            if following is None:
                return block
            now = following
            assert len(now.block(block + 1)) == 2, "an arm is gone whose queries are open"
        return 25

    assert ends_at(0.0) < ends_at(0.05) < 24
    assert ends_at(0.3) < ends_at(0.05), "the blocks that are left would not decide it"
