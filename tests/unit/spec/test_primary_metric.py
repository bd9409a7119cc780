"""A load is judged by what the server decides: throughput, or with a rate the response time."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.analysis.reading.metrics import METRICS
from pgassay.plan.design import make_plan
from pgassay.plan.model import Endpoint
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from pgassay.refusals.refusal import Refusal
from pgassay.spec.endpoints import PRIMARY_METRICS
from pgassay.spec.experiment import Spec
from pgassay.spec.model import ExperimentFile
from pgassay.spec.parse import parse_spec
from support.refusals import refused

FACTOR = "[factors.postgres]\nsynchronous_commit = ['on', 'off']\n"
PROGRAM = "command = ['pgbench']\n"
LOGGED = f"{PROGRAM}latency = {{ pgbench_log = 'log' }}\n"


def spec_of(load: str = "", design: str = "", metric: str | None = None) -> Spec:
    text = f"{FACTOR}[load]\n{load}\n[design]\nseed = 1\n{design}\n"
    return parse_spec(text, source="lab.toml", beside=Path(), metric=metric)


@pytest.mark.parametrize(
    ("load", "metric", "endpoint"),
    [
        ("", "tps", "latency_p99"),
        ("rate = 100", "response_mean", "response_p99"),
        ("rate = [100, 300]", "response_mean", "response_p99"),
        ("clients = [2, 4]\nrate = 100", "response_mean", "response_p99"),
        (PROGRAM, "tps", "latency_p99"),
        (f"{LOGGED}rate = 100", "latency_mean", "latency_p99"),
    ],
)
def test_a_metric_that_is_left_out_follows_from_the_load(
    load: str, metric: str, endpoint: str
) -> None:
    spec = spec_of(load)
    plan = make_plan(spec)
    assert (spec.file.metric, plan.metric) == (metric, metric)
    assert plan.endpoints == (Endpoint(endpoint, 0.05),)


@pytest.mark.parametrize(
    ("load", "metric", "code", "expected"),
    [
        (
            "rate = 9",
            "tps",
            "metric-set-by-rate",
            refused("metric-set-by-rate", usual="response_mean"),
        ),
        (
            f"{LOGGED}rate = 9",
            "tps",
            "metric-set-by-rate",
            refused("metric-set-by-rate", usual="latency_mean"),
        ),
        ("", "response_p99", "metric-without-rate", refused("metric-without-rate", which="p99")),
        (
            f"{LOGGED}rate = 9",
            "response_p50",
            "metric-of-a-program",
            refused("metric-of-a-program", which="p50"),
        ),
        (PROGRAM, "latency_p95", "metric-without-log", refused("metric-without-log")),
    ],
)
def test_a_metric_that_does_not_fit_the_load_is_refused_with_the_one_that_does(
    load: str, metric: str, code: str, expected: refused
) -> None:
    with expected as caught:
        spec_of(load, f"metric = '{metric}'")
    assert (caught.value.code, caught.value.key) == (code, "design.metric")
    assert "\n" not in str(caught.value)


def test_a_program_with_a_rate_is_judged_by_the_latencies_of_its_log() -> None:
    with pytest.raises(Refusal) as caught:
        spec_of(f"{PROGRAM}rate = 9")
    assert caught.value.code == "metric-without-log"


@pytest.mark.parametrize("metric", ["response_p95", "latency_mean", "latency_p99"])
def test_an_open_loop_may_be_judged_by_any_response_time_or_latency(metric: str) -> None:
    assert make_plan(spec_of("rate = 9", f"metric = '{metric}'")).metric == metric


def test_throughput_is_no_endpoint_beside_a_rate() -> None:
    with refused("endpoint-set-by-rate", "design.endpoints"):
        make_plan(spec_of("rate = 9", "endpoints = ['tps']"))
    assert make_plan(spec_of("", "metric = 'latency_p99'\nendpoints = ['tps']")).endpoints


@pytest.mark.parametrize("design", ["", "metric = 'tps'"])
def test_a_run_that_was_begun_with_throughput_goes_on_with_it(design: str) -> None:
    begun = make_plan(spec_of("rate = 100", metric="tps"))
    assert begun.metric == "tps"
    stored = plan_from_json(plan_to_json(begun))
    resumed = make_plan(spec_of("rate = 100", design, stored.metric))
    assert same_design(resumed, stored)


def test_one_list_has_all_primary_metrics() -> None:
    schema = ExperimentFile.model_json_schema()["$defs"]["DesignTable"]["properties"]["metric"]
    assert schema["anyOf"][0]["enum"] == list(PRIMARY_METRICS)
    assert schema["default"] is None
    assert set(PRIMARY_METRICS) <= set(METRICS)
