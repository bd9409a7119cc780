"""The text of a load: shares under their own name, rates in full, each failure once."""

from __future__ import annotations

from typing import Any

import pytest

from pgassay.cli.load.summary import print_load
from pgassay.plan.steps import Step
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest

LATENCY = dict.fromkeys(("mean", "p50", "p95", "p99", "p999", "max"), 1.0)
NO_LAG = {"mean": None, "max": None}


def scenario(name: str, weight: float, share: float, **errors: int) -> dict[str, Any]:
    return {
        "name": name, "weight": weight, "share": share, "tps": 10.0, "latency_ms": LATENCY,
        "errors": errors, "statements": [],
    }  # fmt: skip


def shown(
    capsys: pytest.CaptureFixture[str],
    scenarios: list[dict[str, Any]],
    *,
    pools: str | None = None,
    **changes: Any,
) -> tuple[str, str]:
    """Standard output and standard error of a load of a second."""
    step = {
        "index": 0, "measured": True, "start_ns": 0, "end_ns": 10**9, "transactions": 10,
        "failed": 0,
    }  # fmt: skip
    result = {
        "connections": {"count": 4, "min_tx": 1, "max_tx": 9}, "duration_s": 1.0,
        "backend": "epoll", "transactions": 10, "failed": 0, "tps": 10.0, "latency_ms": LATENCY,
        "client_cpu_s": 0.1, "client_limited": False, "steps": [step], "scenarios": scenarios,
        "lost_connections": 0, "started_ns": 0, "first_error": None, "connect_ms": NO_LAG,
        **changes,
    }  # fmt: skip
    request = LoadRequest(
        [Scenario(one["name"], "", "", one["weight"]) for one in scenarios],
        [Step(4, 1.0, measured=True, rate=changes.get("rate_asked"))],
        {},
        1,
        pools=pools,
    )
    print_load(result, request, failures_detailed=False)
    reported = capsys.readouterr()
    return reported.out, reported.err


def test_a_rate_is_compared_with_the_scripts_that_have_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    constant = {**scenario("constant", -1.0, 0.9), "tps": 2227.9}
    shared = {**scenario("shared", 1.0, 0.1), "tps": 200.1}
    rates = {"rate_asked": 200.0, "rate_reached": 200.1, "tps": 2428.0}
    shown_lines, _ = shown(capsys, [constant, shared], pools="per_scenario", **rates)
    (line,) = (line for line in shown_lines.splitlines() if line.startswith("tps"))
    assert line.split(maxsplit=1)[1] == (
        "2428.0 in all: 200.1 of 200 asked for by the rate, 2227.9 on constant connections"
    )


def test_a_weight_of_nothing_asks_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    reported, _ = shown(capsys, [scenario("idle", 0.0, 0.0), scenario("busy", 1.0, 1.0)])
    (line,) = (line for line in reported.splitlines() if line.startswith("idle"))
    assert line.split()[1:3] == ["0.0%", "0.0%"]


def test_weights_of_own_pools_are_shares_of_the_connections(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mix = [scenario("a", 3.0, 0.27), scenario("b", 1.0, 0.73), scenario("c", -2.0, 0.0)]
    reported, _ = shown(capsys, mix, pools="per_scenario")
    assert "of connections" in reported
    assert "of transactions" in reported
    assert "achieved" not in reported
    assert "2 connections" in reported


def test_rates_are_printed_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    reported, warned = shown(capsys, [scenario("a", 1.0, 1.0)], rate_asked=1234567.0)
    assert "10.0 of 1234567 asked" in reported
    assert "1234567 transactions a second were asked for" in warned


def test_failures_of_several_kinds_are_listed_and_of_one_kind_printed_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = {"sqlstate": "22012", "message": "division by zero", "scenario": "a"}
    failed: dict[str, Any] = {"failed": 3, "first_error": first}
    _, warned = shown(capsys, [scenario("a", 1.0, 1.0, **{"22012": 3})], **failed)
    assert warned.splitlines() == ["warning: 3 transactions failed; first 22012: division by zero"]
    kinds = [scenario("a", 1.0, 1.0, **{"22012": 1, "40001": 2})]
    _, warned = shown(capsys, kinds, **failed)
    assert "a: 1 × 22012\na: 2 × 40001\n" in warned
    assert warned.count("division by zero") == 1


def test_each_outage_is_printed_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    away = {"start_ns": 500_000_000, "end_ns": 750_000_000, "connections": 2}
    reported, _ = shown(capsys, [scenario("a", 1.0, 1.0)], outages=[away])
    (line,) = (line for line in reported.splitlines() if line.startswith("outages"))
    assert line.split(maxsplit=1)[1] == "2 connections away at 0.50 s, for 0.250 s"
