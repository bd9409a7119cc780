"""Whether a stored trial had the load that the plan has.

Enters: a trial's summary, the plan of its run. Leaves: why it does not count, if it had another.
Never: asks a user's own program how long it ran: it ends when it ends.

Steps of one level are compared across arms; a trial that lacks one, or has it for another time,
would be compared with what it was not, and the verdict could be the reverse of the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgassay.plan.model import Plan

_LENIENT = 0.1
_LENIENT_S = 0.1
"""What a step may be longer or shorter by: a share of it, and seconds."""

Level = tuple[float, float, float]
"""Clients, rate (0 in a closed loop), seconds."""


def other_steps(summary: Mapping[str, Any], plan: Plan) -> tuple[str, ...]:
    """A reason, where the measured steps are not those planned, in whatever order."""
    load = summary["load"]
    planned = sorted(
        (step.clients, step.rate or 0.0, step.duration_s) for step in plan.steps if step.measured
    )
    stored = sorted(
        (step["clients"], step.get("rate") or 0.0, (step["end_ns"] - step["start_ns"]) / 1e9)
        for step in load["steps"]
        if step["measured"]
    )
    timed = load.get("backend") != "command"
    pairs = zip(stored, planned, strict=False)
    if len(stored) == len(planned) and all(_alike(*pair, timed=timed) for pair in pairs):
        return ()
    told, wanted = (", ".join(map(_words, steps)) for steps in (stored, planned))
    return (f"it was measured with {told}, and the plan has {wanted}",)


def _alike(stored: Level, planned: Level, *, timed: bool) -> bool:
    near = abs(stored[2] - planned[2]) <= _LENIENT * planned[2] + _LENIENT_S
    return stored[0] == planned[0] and stored[1] == planned[1] and (near or not timed)


def _words(level: Level) -> str:
    clients, rate, seconds = level
    at = f" at {rate:g} a second" if rate else ""
    return f"{clients:g} clients{at} for {seconds:.3g} s"
