"""Caveats of a finished load, and what makes it no measurement.

Enters: a load's result, what was asked, what the server's log says of a crash. Leaves: one sentence
per caveat, or a TrialError. Never: hides a figure; a caveat stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.errors import TrialError
from pgassay.language import stored
from pgassay.plan.steps import Step

_CLIENT_BOUND = 0.9
"""Share of its threads' time the engine may burn before it, not the server, is the limit."""
CLIENT_LIMITED = stored(
    "the load engine was the limit, not the server: its threads had no CPU left, or began"
    " transactions late on idle connections; raise load.threads (-j), or give it more CPU"
)
_PREPARED_LOST = frozenset({"42P05", "26000"})
"""A prepared statement exists already, or does not exist."""
_POOLED = stored(
    "42P05 and 26000 are what a connection pooler in transaction mode makes of prepared statements:"
    " use the simple protocol (-M simple), give the server's own address, or set"
    " max_prepared_statements in pgbouncer from 1.21 on"
)
_RATE_SLACK = 0.05
_RATE_SIGMAS = 4.0
"""Poisson arrivals miss their rate by chance; only what chance cannot explain is a caveat."""


_SKEW_MS = 20.0
"""Generators should begin within this time; a step's first and last interval show more."""
_EDGE_MS = 5.0
"""Idle connections should switch to the next slice within this time."""
_CROSSING_SHARE = 0.1
"""Share of transactions that count for no variant; beyond it long ones are missing."""
_TOO_FEW_FOR_P99 = 0.001
"""Share of transactions: with fewer unfinished ones the 99th percentile hardly moves."""


def load_caveats(
    result: Mapping[str, Any], steps: Sequence[Step], threads: int, *, arms_alternate: bool = False
) -> list[str]:
    """The caveats, most serious first; `arms_alternate` where slices belong to arms."""
    found = [
        text for step in result.get("steps", ()) if (text := missed_rate(step, steps)) is not None
    ]
    generators = result.get("generators", ())
    if generators:
        found += generator_caveats(generators)
    elif is_client_limited(result, threads):
        found.append(CLIENT_LIMITED)
    if result["lost_connections"]:
        count = result["lost_connections"]
        found.append(
            stored(f"{count} connection was lost")
            if count == 1
            else stored(f"{count} connections were lost")
        )
    if result.get("outages"):
        found.append(_away(result["outages"], result["connections"]["count"]))
    if result["failed"]:
        failed, first = result["failed"], result["first_error"]
        sqlstate, message = first["sqlstate"], first["message"]
        found.append(
            stored(f"{failed} transaction failed; first {sqlstate}: {message}")
            if failed == 1
            else stored(f"{failed} transactions failed; first {sqlstate}: {message}")
        )
        if _PREPARED_LOST & {code for one in result.get("scenarios", ()) for code in one["errors"]}:
            found.append(_POOLED)
    if result.get("skipped"):
        count = result["skipped"]
        skipped = (
            stored(f"{count} transaction was")
            if count == 1
            else stored(f"{count} transactions were")
        )
        found.append(
            stored(
                f"{skipped} skipped: later than the latency limit; they have no response time, so"
                " the load looks faster than it was"
            )
        )
    of_slices = slice_caveats(result.get("slices", ()), arms_alternate=arms_alternate)
    return [*found, *_unfinished(result), *of_slices]


def generator_caveats(generators: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of load generators on several machines: which was too slow, or began late."""
    found = []
    limited = ", ".join(one["name"] for one in generators if one["client_limited"])
    if limited:
        found.append(
            stored(
                f"the load generators on {limited} were the limit, not the server: their threads"
                " had no CPU left, or began transactions late on idle connections; raise"
                " load.threads, or give the load more machines"
            )
        )
    latest = max(generators, key=lambda one: one["start_skew_ms"] + one["clock_error_ms"])
    within_ms = latest["start_skew_ms"] + latest["clock_error_ms"]
    if within_ms > _SKEW_MS:
        name = latest["name"]
        found.append(
            stored(
                f"the load generator on {name} began up to {within_ms:.0f} ms after the first, so"
                " steps overlap by as much; the network between the machines is slow"
            )
        )
    return found


def lost_generators(lost: Sequence[str]) -> list[str]:
    """That the load came from fewer machines than the run began with."""
    if not lost:
        return []
    names = ", ".join(lost)
    return [stored(f"the load came from fewer machines than before: {names} was lost")]


def _unfinished(result: Mapping[str, Any]) -> list[str]:
    """Transactions that were cut off, where they were slower than all that count."""
    if not result.get("unfinished"):
        return []
    longest_ms = result["unfinished_max_ms"]
    counted_ms = (result.get("response_ms") or result["latency_ms"])["max"]
    if counted_ms is not None and longest_ms <= counted_ms:
        return []
    count = result["unfinished"]
    share = count / (count + result["transactions"])
    if counted_ms is not None and share < _TOO_FEW_FOR_P99:
        effect = stored("too few to change p99")
    else:
        longest_s = longest_ms / 1e3
        effect = (
            stored(f"the slowest had run for {longest_s:.2f} s; let the load run longer")
            if counted_ms is None
            else stored(
                f"the slowest had run for {longest_s:.2f} s, so p99 looks better than it was; let"
                " the load run longer"
            )
        )
    percent = 100 * share
    return [
        stored(
            f"{count} transaction was still running when the load ended and is not counted"
            f" ({percent:.3g} % of all; {effect})"
        )
        if count == 1
        else stored(
            f"{count} transactions were still running when the load ended and are not counted"
            f" ({percent:.3g} % of all; {effect})"
        )
    ]


def _away(outages: Sequence[Mapping[str, Any]], connections: int) -> str:
    """A server that is gone takes all connections with it; a backend that ends takes one."""
    seconds = sum(one["end_ns"] - one["start_ns"] for one in outages) / 1e9
    most = min(max(one["connections"] for one in outages), connections)
    who = (
        stored("all connections")
        if most == connections
        else stored(f"{most} of {connections} connections")
    )
    times = len(outages)
    if times == 1:
        return stored(f"{who} away once, {seconds:.2f} s")
    return stored(f"{who} away at most, {times} times, {seconds:.2f} s in all")


def slice_caveats(slices: Sequence[Mapping[str, Any]], *, arms_alternate: bool) -> list[str]:
    """Caveats of the figures of variants, or of arms."""
    found = []
    own = sum(one["transactions"] + one["failed"] for one in slices)
    crossing = sum(one["crossing"] for one in slices)
    if crossing > _CROSSING_SHARE * (own + crossing):
        every = own + crossing
        found.append(
            stored(
                f"{crossing} of {every} transactions ran across a slice switch and count for no"
                " arm; mostly these are the long ones, so make design.slice longer"
            )
            if arms_alternate
            else stored(
                f"{crossing} of {every} transactions ran across a slice switch and count for no"
                " variant; mostly these are the long ones, so make load.slices.length longer"
            )
        )
    late = sorted(one["edge_lag_ms"] for one in slices)
    if late and late[len(late) // 2] > _EDGE_MS:
        late_ms = late[len(late) // 2]
        found.append(
            stored(
                f"median delay of slice switches on idle connections: {late_ms:.1f} ms; the client"
                " has too little CPU"
            )
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
    reached = step.get("rate_reached")
    if reached is None:  # a program of the user's does not say which of its transactions had a rate
        reached = (step["transactions"] + step["failed"]) / seconds
    by_chance = _RATE_SIGMAS * math.sqrt(asked / seconds)
    if reached >= asked - max(_RATE_SLACK * asked, by_chance):
        return None
    return stored(
        f"the rate was not reached: {asked:.10g} transactions a second were asked for,"
        f" {reached:.1f} done; the server, the clients or the network could not follow, so"
        " transactions queue, and their response times grow with the length of the trial"
    )


def is_client_limited(result: Mapping[str, Any], threads: int) -> bool:
    """Whether the engine had no CPU left, so that the server was not what was measured."""
    if "client_limited" in result:
        return bool(result["client_limited"])
    return bool(result["client_cpu_s"] > _CLIENT_BOUND * result["duration_s"] * threads)


_FAILED_AT_MOST = 0.5
"""Share of transactions that may fail before a trial measures failures, not the load."""


def refuse_failed(
    trial_number: int, result: Mapping[str, Any], crash: str, killed: str = ""
) -> None:
    """Refuse a load whose server went away, or in which most transactions failed.

    `killed` says that the kernel killed a process of the server, and why.
    """
    done, failed, lost = (result[name] for name in ("transactions", "failed", "lost_connections"))
    if lost and not result.get("outages"):
        count = result["connections"]["count"]
        why = killed or stored("is the server still up?")
        what = (
            stored(f"{lost} of {count} connections were lost; {why}")
            if lost <= count  # which counts those that took part in a measured step
            else stored(f"connections were lost before measuring began ({lost}); {why}")
        )
        killed = ""  # as said
    elif done == 0:
        what = stored("not one transaction succeeded")
    elif failed > _FAILED_AT_MOST * (done + failed):
        every = done + failed
        what = stored(f"{failed} of {every} transactions failed")
    else:
        return
    first = result.get("first_error")
    if killed:
        reason = killed  # the first error only follows from it
    elif first:
        sqlstate, scenario, message = first["sqlstate"], first["scenario"], first["message"]
        reason = stored(f"the first error was {sqlstate} in {scenario}: {message}")
        if sqlstate in _PREPARED_LOST:
            reason = stored(f"{reason}; {_POOLED}")
    else:
        reason = stored("there was no error; is a step long enough for one transaction?")
    if crash:
        reason = stored(f"{reason}; the server's log says: {crash}")
    raise TrialError(stored(f"trial {trial_number}: {what}; {reason}"))
