"""Caveats of a finished load, and what makes it no measurement.

Enters: a load's result, what was asked, what the server's log says of a crash. Leaves: a note for
each caveat, or a TrialError. Never: hides a figure; a caveat stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.errors import TrialError
from pgassay.notes import Note, Value
from pgassay.plan.steps import Step

_CLIENT_BOUND = 0.9
"""Share of its threads' time the engine may burn before it, not the server, is the limit."""
CLIENT_LIMITED = Note("trials/load/client-limited")
_PREPARED_LOST = frozenset({"42P05", "26000"})
"""A prepared statement exists already, or does not exist."""
_POOLED = Note("trials/load/pooled")
_POOLED_REPLAY = Note("trials/load/pooled-replay")
_RATE_SLACK = 0.05
_RATE_SIGMAS = 4.0
"""Poisson arrivals miss their rate by chance; only what chance cannot explain is a caveat."""


_SKEW_MS = 20.0
"""Generators should begin within this time; a step's first and last interval show more."""
_EDGE_MS = 5.0
"""Idle connections should switch to the next slice within this time."""
_LATE_MS = 5.0
"""The 99th percentile of the statements of a replay should begin within this time."""
_CROSSING_SHARE = 0.1
"""Share of transactions that count for no variant; beyond it long ones are missing."""
_TOO_FEW_FOR_P99 = 0.001
"""Share of transactions: with fewer unfinished ones the 99th percentile hardly moves."""


def load_notes(
    result: Mapping[str, Any], steps: Sequence[Step], threads: int, *, arms_alternate: bool = False
) -> list[Note]:
    """Returns what makes the figures of a load doubtful, the most serious first; `arms_alternate`
    where slices belong to arms."""
    found = [
        note for step in result.get("steps", ()) if (note := missed_rate(step, steps)) is not None
    ]
    replay = result.get("replay")
    if replay is not None:
        found += replay_notes(replay)
    generators = result.get("generators", ())
    if generators:
        found += generator_notes(generators)
    elif is_client_limited(result, threads):
        found.append(CLIENT_LIMITED)
    if count := result["lost_connections"]:
        found.append(Note("trials/load/connections-lost", {"count": count}))
    if result.get("outages"):
        found.append(_away(result["outages"], result["connections"]["count"]))
    # A statement that failed at the source, too, is as it should be.
    if replay is None or replay["failed_here_only"] or replay["failed_otherwise"]:
        found += failure_notes(result)
    if count := result.get("skipped"):
        skipped = Note("trials/load/transactions-were", {"count": count})
        found.append(Note("trials/load/skipped", {"skipped": skipped}))
    of_slices = slice_notes(result.get("slices", ()), arms_alternate=arms_alternate)
    return [*found, *_unfinished(result), *of_slices]


def _pooled(result: Mapping[str, Any]) -> Note | None:
    """What to do where any failure, not only the first, is one of a pooler; nothing where a
    replay's failures may be those of its log."""
    if not any(_PREPARED_LOST & one["errors"].keys() for one in result.get("scenarios", ())):
        return None
    replay = result.get("replay")
    if replay is None:
        return _POOLED
    return None if replay["failed_here_and_there"] else _POOLED_REPLAY


def failure_notes(result: Mapping[str, Any]) -> list[Note]:
    """Returns notes on transactions of a load that failed."""
    if not result["failed"]:
        return []
    first = {name: result["first_error"][name] for name in ("sqlstate", "message")}
    found = [Note("trials/load/failed", {"failed": result["failed"], **first})]
    pooled = _pooled(result)
    return found if pooled is None else [*found, pooled]


def replay_notes(replay: Mapping[str, Any]) -> list[Note]:
    """Returns notes on a replay whose statements began late because of the engine, or ended in
    another way than at the source."""
    found = []
    late = replay["late_own"]
    if late is not None and late["p99_ms"] > _LATE_MS:
        values = {"p99_ms": late["p99_ms"], "percent": 100 * late["share"]}
        found.append(Note("trials/load/replay-late", values))
    values = {
        "here": replay["failed_here_only"],
        "there": replay["failed_there_only"],
        "otherwise": sum(replay["failed_otherwise"].values()),
    }
    if any(values.values()):
        found.append(Note("trials/load/replay-failed", values))
    return found


def generator_notes(generators: Sequence[Mapping[str, Any]]) -> list[Note]:
    """Returns notes on load generators that had no CPU left or that began late, of a load from
    several machines."""
    found = []
    limited = tuple(one["name"] for one in generators if one["client_limited"])
    if limited:
        found.append(Note("trials/load/generators-limited", {"limited": limited}))
    latest = max(generators, key=lambda one: one["start_skew_ms"] + one["clock_error_ms"])
    within_ms = latest["start_skew_ms"] + latest["clock_error_ms"]
    if within_ms > _SKEW_MS:
        values = {"name": latest["name"], "within_ms": within_ms}
        found.append(Note("trials/load/generator-late", values))
    return found


def lost_generators(lost: Sequence[str]) -> list[Note]:
    """Returns a note where the load came from fewer machines than the run began with."""
    return [Note("trials/load/generators-lost", {"names": tuple(lost)})] if lost else []


def _unfinished(result: Mapping[str, Any]) -> list[Note]:
    """Transactions that were cut off, where they were slower than all that count."""
    if not result.get("unfinished"):
        return []
    longest_ms = result["unfinished_max_ms"]
    counted_ms = (result.get("response_ms") or result["latency_ms"])["max"]
    if counted_ms is not None and longest_ms <= counted_ms:
        return []
    count = result["unfinished"]
    share = count / (count + result["transactions"])
    found: dict[str, Value] = {"count": count, "percent": 100 * share}
    if counted_ms is not None and share < _TOO_FEW_FOR_P99:
        few = Note("trials/load/too-few-for-p99")
        return [Note("trials/load/unfinished-few", {**found, "effect": few})]
    of = "trials/load/slowest" if counted_ms is None else "trials/load/slower-than-p99"
    effect = Note(of, {"longest_s": longest_ms / 1e3})
    return [Note("trials/load/unfinished", {**found, "effect": effect})]


def _away(outages: Sequence[Mapping[str, Any]], connections: int) -> Note:
    """A server that is gone takes all connections with it; a backend that ends takes one."""
    seconds = sum(one["end_ns"] - one["start_ns"] for one in outages) / 1e9
    most = min(max(one["connections"] for one in outages), connections)
    who = (
        Note("trials/load/all-connections")
        if most == connections
        else Note("trials/load/some-connections", {"most": most, "connections": connections})
    )
    values = {"who": who, "times": len(outages), "seconds": seconds}
    return Note("trials/load/away-once" if len(outages) == 1 else "trials/load/away", values)


def slice_notes(slices: Sequence[Mapping[str, Any]], *, arms_alternate: bool) -> list[Note]:
    """Returns what makes the figures of slices doubtful, by variant or by arm."""
    found = []
    own = sum(one["transactions"] + one["failed"] for one in slices)
    crossing = sum(one["crossing"] for one in slices)
    if crossing > _CROSSING_SHARE * (own + crossing):
        of = "trials/load/crossing-arms" if arms_alternate else "trials/load/crossing-variants"
        found.append(Note(of, {"crossing": crossing, "every": own + crossing}))
    late = sorted(one["edge_lag_ms"] for one in slices)
    if late and late[len(late) // 2] > _EDGE_MS:
        found.append(Note("trials/load/late-switches", {"late_ms": late[len(late) // 2]}))
    return found


def missed_rate(step: Mapping[str, Any], steps: Sequence[Step]) -> Note | None:
    """Returns a note where a step did not reach the rate that the file asks for; else None."""
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
    return Note("trials/load/rate-missed", {"asked": asked, "reached": reached})


def is_client_limited(result: Mapping[str, Any], threads: int) -> bool:
    """Returns whether the engine had no CPU left, so that the server was not what was measured."""
    if "client_limited" in result:
        return bool(result["client_limited"])
    return bool(result["client_cpu_s"] > _CLIENT_BOUND * result["duration_s"] * threads)


_FAILED_AT_MOST = 0.5
"""Share of transactions that may fail before a trial measures failures, not the load."""


def refuse_failed(
    trial_number: int, result: Mapping[str, Any], crash: str, killed: Note | None = None
) -> None:
    """Raises TrialError for a load whose server went away, or in which most transactions failed.

    `killed` says that the kernel killed a process of the server, and why. The error has a note.
    """
    done, failed, lost = (result[name] for name in ("transactions", "failed", "lost_connections"))
    if lost and not result.get("outages"):
        count = result["connections"]["count"]
        why = killed or Note("trials/load/still-up")
        # `count` is of those that took part in a measured step.
        of = (
            "trials/load/connections-gone" if lost <= count else "trials/load/lost-before-measuring"
        )
        what = Note.of(of, lost=lost, count=count, why=why)
        killed = None  # as said
    elif done == 0:
        what = Note("trials/load/no-transaction")
    elif failed > _FAILED_AT_MOST * (done + failed):
        what = Note("trials/load/most-failed", {"failed": failed, "every": done + failed})
    else:
        return
    first = result.get("first_error")
    if killed:
        reason = killed  # the first error only follows from it
    elif first:
        said = {name: first[name] for name in ("sqlstate", "scenario", "message")}
        reason = Note("trials/load/first-error", said)
        if (pooled := _pooled(result)) is not None:
            reason = Note.of("trials/load/first-error-pooled", reason=reason, pooled=pooled)
    else:
        reason = Note("trials/load/no-error")
    if crash:
        reason = Note("trials/load/log-says", {"reason": reason, "crash": crash})
    raise TrialError(
        Note.of("trials/load/broke-off", trial_number=trial_number, what=what, reason=reason)
    )
