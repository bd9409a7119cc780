"""What makes a finished load's figures doubtful.

Enters: a load's result and what was asked. Leaves: one sentence per doubt.
Never: hides a figure; a doubt stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.plan.steps import Step

_CLIENT_BOUND = 0.9
"""Share of its threads' time the engine may burn before it, not the server, is the limit."""
CLIENT_LIMITED = (
    "the load engine was the limit, not the server: its threads had no CPU left, or began"
    " transactions late on idle connections; raise load.threads (-j), or give it more CPU"
)
_RATE_SLACK = 0.05
_RATE_SIGMAS = 4.0
"""Poisson arrivals miss their rate by chance; only what chance cannot explain is told."""


_EDGE_MS = 5.0
"""Within this, connections at rest are meant to meet the edge of a slice."""
_CROSSING_SHARE = 0.1
"""Of transactions that no variant counts; beyond it long ones are missing from the figures."""


def load_doubts(
    result: Mapping[str, Any], steps: Sequence[Step], threads: int, *, arms_alternate: bool = False
) -> list[str]:
    """The doubts, most serious first; `arms_alternate` where its slices are the arms' own."""
    found = [
        text for step in result.get("steps", ()) if (text := missed_rate(step, steps)) is not None
    ]
    if is_client_limited(result, threads):
        found.append(CLIENT_LIMITED)
    if result["lost_connections"]:
        found.append(f"{_counted(result['lost_connections'], 'connection')} lost")
    if result.get("outages"):
        found.append(_away(result["outages"], result["connections"]["count"]))
    if result["failed"]:
        first = result["first_error"]
        found.append(
            f"{result['failed']} transaction{'s' * (result['failed'] != 1)} failed;"
            f" first {first['sqlstate']}: {first['message']}"
        )
    if result.get("skipped"):
        found.append(f"{_counted(result['skipped'], 'transaction')} skipped: hopelessly late")
    of_slices = slice_doubts(result.get("slices", ()), arms_alternate=arms_alternate)
    return [*found, *_unfinished(result), *of_slices]


def _unfinished(result: Mapping[str, Any]) -> list[str]:
    """Transactions that nobody saw the end of, where they were slower than those that count."""
    if not result.get("unfinished"):
        return []
    longest_ms = result["unfinished_max_ms"]
    counted_ms = (result.get("response_ms") or result["latency_ms"])["max"]
    if counted_ms is not None and longest_ms <= counted_ms:
        return []
    return [
        f"{result['unfinished']} of the load's transactions had not ended when it did, the slowest"
        f" of them after {longest_ms / 1e3:.2f} s: slower than any that is counted, so latencies"
        " look better than they were; let the load last longer"
    ]


def _counted(count: int, what: str) -> str:
    return f"{count} {what} was" if count == 1 else f"{count} {what}s were"


def _away(outages: Sequence[Mapping[str, Any]], connections: int) -> str:
    """A server that is gone takes all connections with it; a backend that ends takes one."""
    seconds = sum(one["end_ns"] - one["start_ns"] for one in outages) / 1e9
    most = min(max(one["connections"] for one in outages), connections)
    who = "all connections" if most == connections else f"{most} of {connections} connections"
    if len(outages) == 1:
        return f"{who} away once, {seconds:.2f} s"
    return f"{who} away at most, {len(outages)} times, {seconds:.2f} s in all"


def slice_doubts(slices: Sequence[Mapping[str, Any]], *, arms_alternate: bool) -> list[str]:
    """What makes the figures of variants, or of arms, doubtful."""
    what, key = ("arm", "design.slice") if arms_alternate else ("variant", "load.slices.length")
    found = []
    own = sum(one["transactions"] + one["failed"] for one in slices)
    crossing = sum(one["crossing"] for one in slices)
    if crossing > _CROSSING_SHARE * (own + crossing):
        found.append(
            f"{crossing} of {own + crossing} transactions crossed an edge of slices and count for"
            f" no {what}, the long ones most likely; make {key} longer"
        )
    late = sorted(one["edge_lag_ms"] for one in slices)
    if late and late[len(late) // 2] > _EDGE_MS:
        found.append(
            f"half of the edges of slices were met {late[len(late) // 2]:.1f} ms late or later by a"
            " connection at rest; the client has too little CPU"
        )
    return found


def missed_rate(step: Mapping[str, Any], steps: Sequence[Step]) -> str | None:
    """A sentence where a step did not reach the rate it was asked for."""
    asked = steps[step["index"]].rate
    if asked is None or not step["measured"]:
        return None
    seconds = (step["end_ns"] - step["start_ns"]) / 1e9
    if seconds <= 0:
        return None
    reached = (step["transactions"] + step["failed"]) / seconds
    by_chance = _RATE_SIGMAS * math.sqrt(asked / seconds)
    if reached >= asked - max(_RATE_SLACK * asked, by_chance):
        return None
    return (
        f"the rate was not reached: {asked:.10g} transactions a second were asked for,"
        f" {reached:.1f} done; the server, the clients or the network could not follow"
    )


def is_client_limited(result: Mapping[str, Any], threads: int) -> bool:
    """Whether the engine had no CPU left, so that the server was not what was measured."""
    if "client_limited" in result:
        return bool(result["client_limited"])
    return bool(result["client_cpu_s"] > _CLIENT_BOUND * result["duration_s"] * threads)
