"""What a load did, for people.

Enters: the engine's result, what was asked. Leaves: lines on stdout, warnings on stderr.
Never: computes more than shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pgassay.cli.load.result import failures_by_kind
from pgassay.cli.terminal.console import counted, err, one_line, out, plain, print_table, warn
from pgassay.trials.load.caveats import load_notes
from pgassay.trials.load.engine import LoadRequest

if TYPE_CHECKING:
    from pgassay.analysis.measures.model import VariantMeasures

_LATENCIES = ("mean", "p50", "p95", "p99", "p999", "max")
_MOST_OUTAGES = 10


def print_load(result: Mapping[str, Any], request: LoadRequest, *, failures_detailed: bool) -> None:
    """Prints the mix asked for and achieved, throughput, latency and failures."""
    connections = result["connections"]
    out.print(
        f"{counted(connections['count'], 'connection')}, {counted(request.threads, 'thread')},"
        f" {request.protocol}"
        f" protocol, {result['duration_s']:.2f} s, {result['backend']}, seed {request.seed}"
    )
    out.print(
        f"transactions  {result['transactions']}, failed {result['failed']}{_share_failed(result)}"
        f"{_kept(result)}"
    )
    out.print(f"tps           {result['tps']:.1f}{_asked(result)}")
    out.print(f"latency       {_latency(result['latency_ms'])}")
    if result.get("response_ms"):
        out.print(f"response      {_latency(result['response_ms'])}")
    for title, key in (("schedule lag", "schedule_lag_ms"), ("connecting", "connect_ms")):
        found = result.get(key)
        if found and found["mean"] is not None:
            out.print(f"{title:<13} mean {_number(found['mean'])}, max {_number(found['max'])} ms")
    out.print(
        f"per client    {connections['min_tx']} to {connections['max_tx']} transactions;"
        f" client CPU {result['client_cpu_s']:.2f} s{_polled(result)}"
    )
    _print_outages(result)
    if len(result["steps"]) > 1:
        _print_steps(result, request)
    if len(result["scenarios"]) > 1:
        _print_mix(result["scenarios"], request)
    if result.get("slices"):
        from pgassay.analysis.measures.variants import measure_variants  # start-up time
        from pgassay.samples.forms.trial import Load

        _print_variants(measure_variants(Load.model_validate(result).slices))
    for scenario in result["scenarios"]:
        _print_statements(scenario)
    _print_failures(result, detailed=failures_detailed)
    for note in load_notes(result, request.steps, request.threads):
        warn(str(note))


def _share_failed(result: Mapping[str, Any]) -> str:
    failed, every = result["failed"], result["failed"] + result["transactions"]
    return f" ({failed / every:.3%})" if failed else ""


def _kept(result: Mapping[str, Any]) -> str:
    found = [
        f", {name} {result[name]}"
        for name in ("skipped", "late", "backlog", "retried")
        if result.get(name)
    ]
    if result.get("retries"):
        found.append(f" ({result['retries']} retries)")
    return "".join(found)


def _polled(result: Mapping[str, Any]) -> str:
    polled_s = result.get("busy_poll_s")
    return f" and {polled_s:.2f} s looking for answers" if polled_s else ""


def _asked(result: Mapping[str, Any]) -> str:
    asked, reached = result.get("rate_asked"), result.get("rate_reached")
    if asked is None:
        return ""
    if reached is None or not any(one["weight"] < 0 for one in result["scenarios"]):
        return f" of {asked:.10g} asked"
    # The rate is asked of the scripts that share it; constant connections come on top.
    return (
        f" in all: {reached:.1f} of {asked:.10g} asked for by the rate,"
        f" {result['tps'] - reached:.1f} on constant connections"
    )


def _print_steps(result: Mapping[str, Any], request: LoadRequest) -> None:
    rates = [request.steps[step["index"]].rate for step in result["steps"]]
    print_table(
        ("step", "clients", "rate", "tps", "p50 ms", "p99 ms", "failed"),
        (
            (
                "measured" if step["measured"] else "warm-up",
                str(step["clients"]),
                "–" if rate is None else f"{rate:.10g}",
                f"{step['tps']:.1f}",
                _number(step["latency_ms"]["p50"]),
                _number(step["latency_ms"]["p99"]),
                str(step["failed"]),
            )
            for step, rate in zip(result["steps"], rates, strict=True)
        ),
    )


def _print_variants(variants: Sequence[VariantMeasures]) -> None:
    print_table(
        ("variant", "slices", "transactions", "tps", "mean ms", "crossing"),
        (
            (
                one.variant,
                str(one.slices),
                str(one.transactions),
                f"{one.tps:.1f}",
                _number(one.latency_mean_ms),
                str(one.crossing),
            )
            for one in variants
        ),
    )


def _print_mix(scenarios: list[Mapping[str, Any]], request: LoadRequest) -> None:
    # Where each script has connections of its own, weights share those out, not transactions.
    own = request.pools == "per_scenario"
    titles = ("of connections", "of transactions") if own else ("asked", "achieved")
    asked = sum(scenario.weight for scenario in request.scenarios if scenario.weight > 0) or 1.0
    print_table(
        ("scenario", *titles, "tps", "latency ms"),
        (
            (
                one["name"],
                counted(int(-one["weight"]), "connection")
                if one["weight"] < 0
                else f"{one['weight'] / asked:.1%}",
                f"{one['share']:.1%}",
                f"{one['tps']:.1f}",
                _number(one["latency_ms"]["mean"]),
            )
            for one in scenarios
        ),
    )


def _print_statements(scenario: Mapping[str, Any]) -> None:
    statements = scenario.get("statements")
    if not statements:
        return
    print_table(
        (f"{scenario['name']}, by command", "mean ms", "p99 ms", "failures", "retries"),
        (
            (
                f"{one['line']:>3}  {one_line(one['command'])[:50]}",
                _number(one["latency_ms"]["mean"]),
                _number(one["latency_ms"].get("p99")),
                str(one["failures"]),
                str(one["retries"]),
            )
            for one in statements
        ),
    )


def _print_failures(result: Mapping[str, Any], *, detailed: bool) -> None:
    """Of one kind, the warning says all there is to say."""
    found = [
        f"{scenario['name']}: {count} × {sqlstate}"
        for scenario in result["scenarios"]
        for sqlstate, count in scenario["errors"].items()
    ]
    if len(found) > 1:
        err.print("\n".join(map(plain, found)))
    if detailed:
        kinds = failures_by_kind(result["scenarios"])
        out.print("failures      " + ", ".join(f"{kind} {n}" for kind, n in kinds.items()))
    if result.get("first_error") and not result["failed"]:
        first = result["first_error"]
        err.print(plain(f"first error: {first['sqlstate']} {first['message']}"))


def _print_outages(result: Mapping[str, Any]) -> None:
    outages = result.get("outages", ())
    for number, one in enumerate(outages[:_MOST_OUTAGES]):
        at_s, for_s = (
            (one[end] - start) / 1e9
            for end, start in (("start_ns", result["started_ns"]), ("end_ns", one["start_ns"]))
        )
        connections = counted(one["connections"], "connection")
        title = "" if number else "outages"
        out.print(f"{title:<13} {connections} away at {at_s:.2f} s, for {for_s:.3f} s")
    if len(outages) > _MOST_OUTAGES:
        out.print(f"{'':<13} and {len(outages) - _MOST_OUTAGES} more, in --json")


def _latency(latency: Mapping[str, float | None]) -> str:
    return ", ".join(f"{name} {_number(latency[name])}" for name in _LATENCIES) + " ms"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
