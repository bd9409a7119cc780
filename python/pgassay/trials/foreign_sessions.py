"""How busy sessions that are not pgassay's kept the server during a trial.

Enters: the samples of waits, the measured steps. Leaves: their number, on average.
Never: knows what they did; without pg_monitor they cannot be seen, and the sampler says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.trials.record import Columns


def foreign_load(waits: Columns, window: tuple[int, int], fewest_samples: int) -> float | None:
    """Foreign client sessions at work, on average over `window`; None where too few samples are.

    A session of the load was seen in a scenario at some time of the trial, a foreign one never.
    One that was seen only once may be the load's, caught between two transactions.
    """
    start, end = window
    rows = zip(
        *(waits[name] for name in ("tick_ns", "pid", "backend_type", "state", "scenario")),
        strict=True,
    )
    ticks: set[int] = set()
    own: set[int] = set()
    seen: dict[int, int] = {}
    for tick, pid, backend_type, state, scenario in rows:
        if scenario is not None:
            own.add(pid)
        if not start <= tick < end:
            continue
        ticks.add(tick)
        if backend_type == "client backend" and state == "active" and scenario is None:
            seen[pid] = seen.get(pid, 0) + 1
    if len(ticks) < fewest_samples:
        return None
    foreign = sum(count for pid, count in seen.items() if pid not in own and count > 1)
    return foreign / len(ticks)


def measured_window(steps: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """From the first measured step's start to the last one's end."""
    measured = [step for step in steps if step["measured"]]
    if not measured:
        return (0, 0)
    return measured[0]["start_ns"], measured[-1]["end_ns"]
