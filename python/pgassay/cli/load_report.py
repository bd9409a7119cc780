"""What a load did, for people and for machines.

Enters: the engine's result. Leaves: lines on stdout, or the `pgassay.load/1` object.
Never: computes more than shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from pgassay.cli.console import err, out, plain
from pgassay.trials.load import LoadRequest

SCHEMA = "pgassay.load/1"
_FIELDS = (
    "tps", "transactions", "failed", "skipped", "duration_s", "client_cpu_s", "latency_ms",
    "connections", "scenarios",
)  # fmt: skip
_LATENCIES = ("mean", "p50", "p95", "p99", "p999", "max")


def load_object(result: Mapping[str, Any]) -> dict[str, Any]:
    """The object of `pgassay load --json`."""
    return {"schema": SCHEMA, **{name: result[name] for name in _FIELDS}}


def print_load(result: Mapping[str, Any], request: LoadRequest) -> None:
    """The mix asked for and achieved, throughput, latency, failures."""
    connections = result["connections"]
    out.print(
        f"{connections['count']} connections, {request.threads} threads, {request.protocol}"
        f" protocol, {result['duration_s']:.2f} s, {result['backend']}"
    )
    out.print(f"transactions  {result['transactions']}, failed {result['failed']}")
    out.print(f"tps           {result['tps']:.1f}")
    out.print(f"latency       {_latency(result['latency_ms'])}")
    out.print(
        f"per client    {connections['min_tx']} to {connections['max_tx']} transactions;"
        f" client CPU {result['client_cpu_s']:.2f} s"
    )
    if len(result["scenarios"]) > 1:
        _print_mix(result["scenarios"], request)
    for scenario in result["scenarios"]:
        for sqlstate, count in scenario["errors"].items():
            err.print(f"{scenario['name']}: {count} × {sqlstate}", markup=False)
    if result.get("first_error"):
        first = result["first_error"]
        err.print(f"first error: {first['sqlstate']} {first['message']}", markup=False)


def _print_mix(scenarios: list[Mapping[str, Any]], request: LoadRequest) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("scenario", "asked", "achieved", "tps", "latency ms"):
        table.add_column(title, justify="left" if title == "scenario" else "right")
    asked = sum(scenario.weight for scenario in request.scenarios)
    for scenario in scenarios:
        table.add_row(
            plain(scenario["name"]),
            f"{scenario['weight'] / asked:.1%}",
            f"{scenario['share']:.1%}",
            f"{scenario['tps']:.1f}",
            _number(scenario["latency_ms"]["mean"]),
        )
    out.print(table)


def _latency(latency: Mapping[str, float | None]) -> str:
    return ", ".join(f"{name} {_number(latency[name])}" for name in _LATENCIES) + " ms"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
