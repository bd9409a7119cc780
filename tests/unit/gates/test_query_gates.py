"""Gates on queries rest on the intervals of the set, and name the query that breaks them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.compare.model import Verdict, Withdrawn
from pgassay.analysis.gates.fit import refuse_unnamed
from pgassay.analysis.gates.grammar import parse_gate, parse_gates
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.gates.model import GateCheck, GateOutcome, GateResult
from pgassay.analysis.gates.queries import query_checks
from pgassay.analysis.queries.effects import query_set
from pgassay.analysis.queries.model import QueryCosts, QuerySet, TrialQueries
from pgassay.cli.terminal.gates import settle
from pgassay.errors import GateFailed, GateUndecided
from pgassay.plan.model import Endpoint
from pgassay.plan.whole_loads import QuerySet as QuerySetPlan
from support.refusals import refused
from support.synthetic.designs import plan_of_levels
from support.synthetic.plans import plan as explained
from support.synthetic.plans import scan
from support.synthetic.queries import with_queries
from support.synthetic.report_contexts import synthetic_context

HOLDS, UNDECIDED, FAILED = GateOutcome.HOLDS, GateOutcome.UNDECIDED, GateOutcome.FAILED
CHANGES = {"q1": 0.5, "q2": -0.4}


def measured(
    queries: int = 12,
    failing: Sequence[str] = (),
    but_for: int = 0,
    blocks: int = 6,
    lost: str = "",
) -> QuerySet:
    """A set in which q1 is slower and plans otherwise, q2 is faster with fewer blocks, and one has
    `lost` its index; in the first `but_for` blocks queries fail in neither arm, and q1 is planned
    as at the baseline."""
    plan = plan_of_levels(least=blocks, design="mode = 'blocks'\nsmallest_effect = 0.1")
    source = np.random.default_rng(7)
    by_index, by_scan = explained(scan("item", "item_pkey")), explained(scan("item"))
    trials = []
    for trial in plan.trials:
        changed = trial.arm != "a1"
        ms = {
            f"q{at}": 10.0
            * math.exp(0.01 * source.standard_normal())
            * (1.0 + (CHANGES.get(f"q{at}", 0.0) if changed else 0.0))
            for at in range(queries)
        }
        costs = {name: QueryCosts(hit=100.0, read=0.0) for name in ms}
        plans = dict.fromkeys(ms, by_index)
        if changed:
            costs["q2"] = QueryCosts(hit=20.0, read=0.0)
            plans["q1"] = by_scan if trial.block > but_for else by_index
        if changed and lost:
            ms[lost] *= 300.0
            costs[lost] = QueryCosts(hit=60_000.0, read=0.0)
        failed = {name: {"42703": 3} for name in failing if changed and trial.block > but_for}
        at = trial.number, trial.block, trial.arm
        trials.append(TrialQueries(*at, ms, costs, plans, failed, p95_ms={"q1": 2.0 * ms["q1"]}))
    found = query_set(plan, trials)
    assert found is not None
    return found


def checks(text: str, found: QuerySet) -> dict[str, GateCheck]:
    gate = parse_gate(text)
    return {one.written(gate): one for one in query_checks(gate, found)}


def test_a_query_that_has_become_hundreds_of_times_slower_fails_its_gates() -> None:
    found = measured(lost="q5")
    for text in ("q5.mean<+20%", "q5.blocks<+5%"):
        assert [one.outcome for one in checks(text, found).values()] == [FAILED]


@pytest.mark.parametrize(
    ("text", "outcome", "broken"),
    [
        ("q1.mean<+10%", FAILED, ["q1.mean<+10%"]),
        ("q2.mean<+10%", HOLDS, []),
        ("q1.p95<+10%", FAILED, ["q1.p95<+10%"]),
        ("q2.p95<+10%", UNDECIDED, []),
        ("*.mean<+20%", FAILED, ["q1.mean<+20%"]),
        ("*.mean<+80%", HOLDS, []),
        ("q*.blocks<+5%", HOLDS, []),
        ("*.blocks>-10%", FAILED, ["q2.blocks>-10%"]),
        ("plans=same", FAILED, ["q1.plan=same"]),
    ],
)
def test_a_gate_holds_for_all_queries_that_it_names_and_says_which_break_it(
    text: str, outcome: GateOutcome, broken: list[str]
) -> None:
    found = checks(text, measured())
    assert GateResult(parse_gate(text), tuple(found.values())).outcome is outcome
    assert [name for name, one in found.items() if one.outcome is FAILED] == broken


def test_a_query_that_fails_only_at_a_level_fails_its_gates() -> None:
    found = measured(failing=["q5"])
    (effect,) = (one for one in found.effects if one.query == "q5")
    assert effect.verdict is Verdict.WORSE
    for text in ("q5.mean<+100%", "q5.blocks<+5%"):
        (check,) = checks(text, found).values()
        assert check.outcome is FAILED
        assert check.reason is not None
        assert check.reason.code == "analysis/gates/query-fails"


def settled(text: str, found: QuerySet) -> None:
    settle([GateResult(parse_gate(text), tuple(checks(text, found).values()))], "worse")


def test_a_query_that_fails_in_most_trials_of_a_level_alone_never_passes() -> None:
    found = measured(failing=["q5"], but_for=1)
    (effect,) = (one for one in found.effects if one.query == "q5")
    assert (effect.verdict, effect.failures.failed) == (Verdict.UNDECIDED, 5)
    with pytest.raises(GateUndecided, match=r"q5\.mean<\+20%.*fails in more trials"):
        settled("q5.mean<+20%", found)
    longer = measured(failing=["q5"], but_for=1, blocks=14)
    (effect,) = (one for one in longer.effects if one.query == "q5")
    assert (effect.verdict, effect.blocks_to_decide) == (Verdict.WORSE, 0)
    with pytest.raises(GateFailed, match=r"q5\.mean<\+80%"):
        settled("*.mean<+80%", longer)


def test_a_plan_that_is_another_in_most_trials_of_a_level_never_passes() -> None:
    with pytest.raises(GateUndecided, match=r"q1\.plan=same.*in most trials"):
        settled("plans=same", measured(but_for=1))
    settled("plans=same", measured(but_for=4))


def test_a_gate_names_a_query_of_the_set_and_what_is_measured_of_it() -> None:
    plan = replace(
        plan_of_levels(), metric="queries_mean", endpoints=(),
        queries=QuerySetPlan(2, 3, names=("q1", "q7-new")),
    )  # fmt: skip
    for text in ("*.mean<+5%", "*.p95<+5%", "q7-new.blocks<0%", "plans=same", "mean<5%", "wal<+5%"):
        refuse_unnamed([parse_gate(text)], plan)
    for text, code, near in (
        ("q77.mean<+10%", "gate-of-no-query", "q1, q7-new"),
        ("q7new.mean<+10%", "gate-of-no-query", "q7-new?"),
        ("q1.p99<+10%", "gate-measure-of-a-query", "q1.mean"),
        ("throughput>-2%", "gate-of-all-queries", "queries_mean"),
        ("latency<+5%", "gate-of-all-queries", "*.mean"),
        ("p99<+5%", "gate-of-all-queries", "*.mean"),
    ):
        with refused(code, f"--gate {text!r}") as error:
            refuse_unnamed([parse_gate(text)], plan)
        assert near in str(error.value)


def test_a_gate_on_a_part_of_another_load_names_an_endpoint() -> None:
    endpoint = Endpoint("payment.p99", 0.05)
    plan = replace(plan_of_levels(), endpoints=(endpoint,))
    for text in ("payment.p99<+5%", "throughput>-2%", "mean<+5%"):
        refuse_unnamed([parse_gate(text)], plan)
    for text, code in (
        ("payments.p99<+5%", "gate-of-no-endpoint"),
        ("*.mean<+5%", "gate-of-no-endpoint"),
        ("plans=same", "gate-of-no-set"),
        ("queries_mean<+5%", "gate-of-no-set"),
    ):
        with refused(code, f"--gate {text!r}"):
            refuse_unnamed([parse_gate(text)], plan)


def test_a_gate_on_nothing_that_was_measured_is_no_pass() -> None:
    for undecided in ("worse", "fail", "pass"):
        with pytest.raises(GateUndecided, match="not measured"):
            settle([GateResult(parse_gate("cpu<+5%"), ())], undecided)


def test_what_withdraws_the_verdict_of_a_level_leaves_the_gates_of_its_queries_undecided(
    tmp_path: Path,
) -> None:
    answer = with_queries(synthetic_context(tmp_path), {"q1": 0.9}).analysis.answer
    gates = parse_gates(["q1.mean<+20%"])
    outcomes = {}
    for why in (None, Withdrawn.LOST_TRIALS, Withdrawn.STANDSTILL):
        comparisons = tuple(replace(one, withdrawn=why) for one in answer.comparisons)
        (found,) = judge_gates(gates, replace(answer, comparisons=comparisons))
        outcomes[why] = found.outcome
    assert list(outcomes.values()) == [FAILED, UNDECIDED, FAILED]


def test_of_many_queries_the_five_worst_and_the_five_best_are_shown() -> None:
    gate = parse_gate("*.mean<+20%")
    result = GateResult(gate, tuple(query_checks(gate, measured(30))))
    shown, between = result.ends()
    assert shown.checks[0].written(gate) == "q1.mean<+20%"
    assert shown.checks[-1].written(gate) == "q2.mean<+20%"
    assert (len(shown.checks), len(between.checks)) == (10, 20)
    assert between.outcome is HOLDS
