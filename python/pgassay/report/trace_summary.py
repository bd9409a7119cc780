"""The top of a trace's report: facts and caveats, and names of points as all of it shows them.

Enters: what was traced. Leaves: (name, value) pairs, sentences, short texts. Never:
computes a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pgassay.analysis.trace.model import PointSummary
from pgassay.findings.wording import signed_percent, spaced
from pgassay.report.context import TraceContext
from pgassay.spec.reading.units import clock
from pgassay.trials.trace.points import titles

_WAYS = {"usdt": "the server's static probes", "uprobe": "the server's functions"}
_LITTLE = 0.05
"""A share of one processor from which the cost of the probes is a caveat; smaller ones are seldom
seen beside the noise of a host (docs/tracing.md, "What it costs")."""


def point_name(point: str, key: str) -> str:
    """Such as `LWLock WALWrite`."""
    return f"{titles()[point]} {key}".strip()


def microseconds(value: float | None) -> str:
    """A duration to three digits, in the unit that suits it."""
    if value is None:
        return "–"
    for limit, divisor, unit in ((1e3, 1.0, "µs"), (1e6, 1e3, "ms")):
        if value < limit:
            return f"{_digits(value / divisor)} {unit}"
    return f"{_digits(value / 1e6)} s"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def longest_first(context: TraceContext) -> tuple[PointSummary, ...]:
    """The points by total time."""
    return context.traced.points


def facts(context: TraceContext) -> tuple[tuple[str, str], ...]:
    """(name, value): when, how long, how much."""
    traced = context.traced
    start = datetime.fromtimestamp(traced.start_ns / 1e9, UTC)
    found = [
        ("Start", f"{start:%Y-%m-%d %H:%M:%S} UTC"),
        ("Duration", clock(traced.seconds)),
    ]
    if traced.tps is not None:
        found.append(("Transactions per second", spaced(traced.tps, 0)))
    found.append(("Checkpoints", str(len(traced.checkpoints))))
    found.append(("Cost", cost_text(context)))
    return tuple(found)


def cost_text(context: TraceContext) -> str:
    """What the probes cost: estimated from their hits, and measured where that was asked for."""
    traced, cost = context.traced, context.described.get("cost")
    text = (
        f"{spaced(traced.pairs_per_s, 0)} pairs of probes per second,"
        f" about {100 * traced.cost_share:.2g} % of one processor"
    )
    if cost is None:
        return text
    changes = "; ".join(
        f"{words} {_change(cost[name])}"
        for name, words in (("tps", "throughput"), ("cpu_per_tx_us", "CPU per transaction"))
    )
    windows = f"{cost['pairs']} pairs of windows of {cost['window_s']:g} s"
    return f"{text}; measured with the probes against without, {windows}: {changes}"


def _change(compared: Mapping[str, Any]) -> str:
    """Such as `+1.2 % (95 % CI +0.3 to +2.1 %)`."""
    ratio, low, high = (compared[name] for name in ("ratio", "low", "high"))
    found = signed_percent(100 * (ratio - 1))
    if low is None or high is None:
        return f"{found}, no interval"
    low, high = (signed_percent(100 * (end - 1)) for end in (low, high))
    return f"{found} (95 % CI {low.removesuffix(' %')} to {high})"


def ways(context: TraceContext) -> list[tuple[str, str]]:
    """(way in words, its points)."""
    found: dict[str, list[str]] = {}
    for point, way in context.described["ways"].items():
        found.setdefault(_WAYS[way], []).append(titles().get(point, "checkpoint phases"))
    return [(words, ", ".join(points)) for words, points in found.items()]


def caveats(context: TraceContext) -> list[str]:
    """What is missing, lost or doubtful, one line each."""
    described, traced = context.described, context.traced
    found = [f"not traced: {line}" for line in described["missing"]]
    if described["ended_by"] == "tracer":
        found.append(f"bpftrace ended before its time: {described['complaint']}")
    if described["ended_by"] == "server":
        found.append("the server was stopped or restarted, which ended the trace")
    counts = dict.fromkeys(described["ways"], 0)
    for point in traced.points:
        counts[point.point] += point.count
    for point, number in described["unmatched"].items():
        whole = counts[point] + number
        found.append(
            f"{titles()[point]}: {spaced(number, 0)} of {spaced(whole, 0)} had only one end within"
            " the trace and are not counted: they began before it, or ended in an error"
        )
    if described["lost_events"]:
        found.append(
            f"{spaced(described['lost_events'], 0)} messages of bpftrace were lost; some seconds"
            " are missing"
        )
    found += [
        f"{titles()[point]}: more relations than there was room for; their list is not complete"
        for point in described["full_maps"]
    ]
    if traced.cost_share > _LITTLE:
        found.append(
            f"the probes themselves took about {100 * traced.cost_share:.0f} % of one processor:"
            " durations and throughput are not those of the server without them; trace less"
            " with --what"
        )
    return found
