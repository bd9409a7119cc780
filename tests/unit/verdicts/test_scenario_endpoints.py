"""One scenario of a load can be an endpoint, with a verdict and gates of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.judge import judge_gates
from pgassay.analysis.gates.model import GateOutcome
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.model import Verdict
from pgassay.findings.answer.endpoints import endpoint_sentence, endpoint_title, price
from pgassay.plan.model import Endpoint, Plan
from support.refusals import refused
from support.synthetic.designs import plan_of_spec
from support.synthetic.trials import trials_of

SPEC = """
[workload]
use = "payments"
[factors.postgres]
max_wal_size = ["1GB", "2GB"]
[design]
min_blocks = 8
max_blocks = 8
seed = 1
endpoints = {endpoints}
{more}
"""


def planned(endpoints: str, more: str = "") -> Plan:
    return plan_of_spec(SPEC.format(endpoints=endpoints, more=more))


def with_slower_payments(plan: Plan) -> list[TrialMeasures]:
    """Trials of one throughput, in which payments take 30 % longer at the level."""
    source = np.random.default_rng(1)
    found = []
    for one in trials_of(plan):
        ms = 4.0 * (1.3 if one.arm != "a1" else 1.0) * (1.0 + 0.01 * source.standard_normal())
        values = {**one.whole.values, "payment.p99": ms}
        found.append(replace(one, whole=replace(one.whole, values=values)))
    return found


def test_an_endpoint_of_a_scenario_has_a_verdict_that_its_gates_rest_on() -> None:
    plan = planned('{ "payment.p99" = "10%" }')
    assert plan.endpoints == (Endpoint("payment.p99", 0.1),)
    answer = answer_of("", plan, with_slower_payments(plan))
    (verdict,) = answer.verdicts()
    ((one, endpoint),) = answer.beside(verdict)
    assert one.verdict is Verdict.WORSE
    assert endpoint_title(one.metric) == "payment.p99"
    assert str(endpoint_sentence(one, endpoint)).startswith("Payment.p99 is ")
    gates = parse_gates(["payment.p99<+10%", "payment.p99<+60%"])
    outcomes = [found.outcome for found in judge_gates(gates, answer)]
    assert outcomes == [GateOutcome.FAILED, GateOutcome.HOLDS]
    assert "payment.p99" in str(price(plan))


def test_the_margin_of_a_tail_is_wider_than_that_of_a_mean() -> None:
    plan = planned('["payment.p99", "transfer.mean"]')
    assert [one.margin for one in plan.endpoints] == [0.05, 0.02]


@pytest.mark.parametrize(
    ("endpoints", "more", "code"),
    [
        ('["refund.p99"]', "", "endpoint-of-no-scenario"),
        ('["payment.p98"]', "", "endpoint-unknown"),
        ('["payment.p99"]', 'mode = "switchback"', "endpoint-of-alternating-arms"),
    ],
)
def test_an_endpoint_that_no_trial_measures_is_refused(
    endpoints: str, more: str, code: str
) -> None:
    text = SPEC.format(endpoints=endpoints, more=more).replace("max_wal_size", "work_mem")
    with refused(code):
        plan_of_spec(text.replace('"1GB", "2GB"', '"4MB", "8MB"'))
