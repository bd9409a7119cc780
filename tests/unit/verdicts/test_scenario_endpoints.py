"""A scenario of a load, or a statement of one, can be an endpoint with a verdict and gates of its
own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.gates.model import GateOutcome
from pgassay.analysis.measures.model import SliceMeasures, TrialMeasures
from pgassay.analysis.measures.parts import measure_slices
from pgassay.analysis.model import Answer, Comparison, Verdict, Withdrawn
from pgassay.analysis.noise.endpoint_outlooks import endpoint_outlooks
from pgassay.analysis.noise.prior_runs import conditions_of
from pgassay.analysis.noise.prior_runs import record_of as record_of_run
from pgassay.findings.answer.endpoints import (
    endpoint_sentence,
    endpoint_title,
    foreseen,
    price,
)
from pgassay.plan.model import ALL_ARMS, Endpoint, Plan
from pgassay.plan.store import plan_to_json
from pgassay.report.context import ReportContext
from pgassay.report.objects.run import run_object
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.parse import parse_spec
from pgassay.trials.run.refusals.before_servers import endpoints_of_no_statement
from pgassay.workflows.reporting import analyse_run
from support.refusals import refused
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import ENVIRONMENT, record_of
from support.synthetic.stored_trials import slice_of, trial_file
from support.synthetic.trials import trials_of

SPEC = """
[workload]
use = "payments"
[factors.postgres]
{setting}
[design]
min_blocks = 8
max_blocks = 8
seed = 1
endpoints = {endpoints}
{more}
"""
RESTARTS, ALTERNATES = 'max_wal_size = ["1GB", "2GB"]', 'work_mem = ["4MB", "8MB"]'
SWITCHBACK = 'mode = "switchback"'
STATEMENT = "payment:5.mean"
"""The UPDATE of the workload's payment.sql."""


def text_of(endpoints: str, more: str = "", setting: str = RESTARTS) -> str:
    return SPEC.format(endpoints=endpoints, more=more, setting=setting)


STORED = text_of(f'["payment.mean", "{STATEMENT}"]')


def planned(endpoints: str, more: str = "", setting: str = RESTARTS) -> Plan:
    return plan_of_spec(text_of(endpoints, more, setting))


def with_slower_payments(plan: Plan) -> list[TrialMeasures]:
    """Trials of one throughput, in which payments take 30 % longer at the level."""
    source = np.random.default_rng(1)
    found = []
    for one in trials_of(plan):
        ms = 4.0 * (1.3 if one.arm != "a1" else 1.0) * (1.0 + 0.01 * source.standard_normal())
        values = {**one.whole.values, "payment.p99": ms}
        found.append(replace(one, whole=replace(one.whole, values=values)))
    return found


def of_endpoint(answer: Answer) -> tuple[Comparison, Endpoint]:
    """The only endpoint beside the only verdict."""
    ((_, beside),) = ((one, answer.beside(one)) for one in answer.verdicts())
    (found,) = beside
    return found


def test_an_endpoint_of_a_scenario_has_a_verdict_that_its_gates_rest_on() -> None:
    plan = planned('{ "payment.p99" = "10%" }')
    assert plan.endpoints == (Endpoint("payment.p99", 0.1),)
    answer = answer_of("", plan, with_slower_payments(plan))
    one, endpoint = of_endpoint(answer)
    assert one.verdict is Verdict.WORSE
    assert endpoint_title(one.metric) == "payment.p99"
    assert str(endpoint_sentence(one, endpoint)).startswith("P99 of payment is ")
    gates = parse_gates(["payment.p99<+10%", "payment.p99<+60%"])
    outcomes = [found.outcome for found in judge_gates(gates, answer)]
    assert outcomes == [GateOutcome.FAILED, GateOutcome.HOLDS]
    assert str(price(plan)).startswith("p99 of payment (margin 10 %): ")


def test_the_margin_of_a_tail_is_wider_than_that_of_a_mean() -> None:
    plan = planned('["payment.p99", "transfer.mean"]')
    assert [one.margin for one in plan.endpoints] == [0.05, 0.02]


def stored_run(folder: Path) -> RunDirectory:
    """A run in which payments, and their UPDATE by pg_stat_statements, are 30 % slower at the
    level."""
    plan = plan_of_spec(STORED)
    run, source = RunDirectory.create(folder), np.random.default_rng(1)
    run.write_text("spec.toml", STORED)
    run.write_json("plan.json", plan_to_json(plan))
    run.write_json("environment.json", ENVIRONMENT)
    for trial in plan.trials:
        effect = 0.0 if trial.arm == "a1" else -math.log(1.3)
        record = record_of(trial, plan, effect, 0.01, source)
        calls, queryid = 1000.0, f"{trial.number}77"  # a table made anew has another id
        ms = 0.2 * calls * math.exp(-effect + 0.01 * source.standard_normal())
        columns = {name: list(column) for name, column in dict(record.counters).items()}
        for at, ended in ((record.started_ns, 0.0), (record.ended_ns, 1.0)):
            for name, value in (("calls", calls), ("exec_time_ms", ms)):
                row = (at, "statements", queryid, name, ended * value)
                for column, cell in zip(columns, row, strict=True):
                    columns[column].append(cell)
        plans = [{"Plan": {"Node Type": "ModifyTable"}, "Query Identifier": int(queryid)}]
        found = {"scenario": "payment", "line": 5, "sql": "UPDATE account …", "plan": plans}
        arms = {"arms": [{"arm": trial.arm, "statements": [found]}]}
        run.write_trial(replace(record, counters=columns, plans=arms))
    return run


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    gates = parse_gates(["payment.mean<+10%", f"{STATEMENT}<+10%", f"{STATEMENT}<+60%"])
    return analyse_run(stored_run(tmp_path_factory.mktemp("stored") / "run"), gates=gates)


def test_a_stored_run_has_the_verdicts_and_gates_of_a_scenario_and_a_statement(
    context: ReportContext,
) -> None:
    described = run_object("run", context)
    (verdict,) = described["verdicts"]
    found = {one["metric"]: one for one in verdict["endpoints"]}
    assert found.keys() == {"payment.mean", STATEMENT}
    for one in found.values():
        assert one["verdict"] == "worse"
        assert one["effect_pct"] == pytest.approx(30.0, abs=2.0)
    outcomes = [one["outcome"] for one in described["gates"]]
    assert outcomes == ["failed", "failed", "holds"]


def test_a_plan_says_what_it_finds_of_each_endpoint_after_a_run_of_its_load(
    context: ReportContext,
) -> None:
    plan, spec = context.plan, parse_spec(STORED, source="spec.toml", beside=Path())
    conditions, floor = conditions_of(spec), context.analysis.noise.floor
    assert floor is not None
    new = endpoint_outlooks(plan, conditions, [])
    assert [one.code for one in foreseen(new, plan)] == [
        "findings/answer/endpoints/foreseen.unknown"
    ]
    known = endpoint_outlooks(plan, conditions, [record_of_run(conditions, floor)])
    for one in known:
        assert one.trial_sd == pytest.approx(0.01, rel=0.5)
        assert one.alone is not None
        assert one.detectable is not None
        assert 0.005 < one.alone < one.detectable < 0.1
    sentence = str(foreseen(known, plan)[1])
    assert sentence.startswith("mean time of payment:5: its trials scatter by ")
    assert "as the only endpoint" in sentence


def slices(plan: Plan, number: int, *, hangs: str = "") -> tuple[SliceMeasures, ...]:
    """Eight rounds of slices of a second; payments take 4 ms, and 5.2 ms at the level.

    The arm that `hangs` ends no payment in half of its slices.
    """
    order = [arm for at in range(8) for arm in (("a1", "a2") if at % 2 else ("a2", "a1"))]
    source, rows = np.random.default_rng(number), []
    for at, arm in enumerate(order):
        for quarter in range(4):
            for scenario, count in (("payment", 20), ("balance", 50)):
                ms = {"payment": 4.0, "balance": 1.0}[scenario]
                ms *= 1.3 if (scenario, arm) == ("payment", "a2") else 1.0
                ns = round(1e6 * ms * math.exp(0.01 * source.standard_normal()))
                if scenario == "payment" and arm == hangs and at % 4 < 2:
                    continue
                rows.append(
                    {
                        "start_ns": at * 10**9 + quarter * 250_000_000,
                        "slice": at,
                        "scenario": scenario,
                        "transactions": count,
                        "latency_sum_ns": count * ns,
                        "latency_ns": [ns],
                        "latency_count": [count],
                        "response_sum_ns": 0,
                        "response_ns": [],
                        "response_count": [],
                    }
                )
    found = [
        slice_of(index=at, variant=arm, start_ns=at * 10**9, end_ns=(at + 1) * 10**9)
        for at, arm in enumerate(order)
    ]
    steps = trial_file().load.steps
    load = {
        "steps": [one.model_dump() for one in steps],
        "slices": [one.model_dump() for one in found],
    }
    summary = trial_file(number=number, block=number, arm=ALL_ARMS, load=load)
    return measure_slices(
        summary, pa.Table.from_pylist(rows), {one.metric for one in plan.endpoints}
    )


def alternating_trials(plan: Plan, **how: str) -> Iterator[TrialMeasures]:
    for one in trials_of(plan):
        yield replace(one, arm=ALL_ARMS, turns=slices(plan, one.number, **how))


def test_a_scenario_is_an_endpoint_where_arms_alternate() -> None:
    plan = planned('["payment.mean"]', SWITCHBACK, ALTERNATES)
    one, _ = of_endpoint(answer_of("", plan, list(alternating_trials(plan))))
    assert one.verdict is Verdict.WORSE
    assert one.effect_pct == pytest.approx(30.0, abs=1.0)
    assert one.rounds == 8 * 8


def test_a_scenario_that_does_not_end_in_the_slices_of_one_arm_has_no_verdict() -> None:
    plan = planned('["payment.mean"]', SWITCHBACK, ALTERNATES)
    one, _ = of_endpoint(answer_of("", plan, list(alternating_trials(plan, hangs="a2"))))
    assert one.withdrawn is Withdrawn.IDLE_ROUNDS


@pytest.mark.parametrize(
    ("endpoints", "more", "code"),
    [
        ('["refund.p99"]', "", "endpoint-of-no-scenario"),
        ('["refund:5.mean"]', "", "endpoint-of-no-scenario"),
        ('["payment.p99"]', '[load]\ncommand = ["pgbench"]', "endpoint-of-no-scenario"),
        ('["payment.p98"]', "", "endpoint-unknown"),
        ('["payment:5.p99"]', "", "endpoint-of-a-statement"),
        ('["payment:5.mean"]', SWITCHBACK, "endpoint-of-alternating-arms"),
        ('["payment:5.mean"]', "[sampling]\nplans = false", "endpoint-of-unplanned-statement"),
        ('["payment:5.mean"]', '[load]\nprotocol = "simple"', "endpoint-of-unplanned-statement"),
    ],
)
def test_an_endpoint_that_no_trial_measures_is_refused(
    endpoints: str, more: str, code: str
) -> None:
    with refused(code):
        planned(endpoints, more, ALTERNATES)


def test_a_line_without_a_plan_is_refused_with_those_that_have_one() -> None:
    spec = parse_spec(text_of('["payment:4.mean"]'), source="lab.toml", beside=Path())  # BEGIN
    (found,) = endpoints_of_no_statement(spec, plan_of_spec(spec.text))
    assert found.code == "endpoint-of-no-statement"
    assert "payment:5.mean, payment:6.mean, payment:7.mean" in str(found)
    known = parse_spec(text_of('["payment:5.mean"]'), source="lab.toml", beside=Path())
    assert not list(endpoints_of_no_statement(known, plan_of_spec(known.text)))
