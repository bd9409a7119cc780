"""How busy foreign sessions kept the server during a trial, and with which maintenance commands.

Enters: samples of waits and of progress, the measured steps. Leaves: the average number of active
foreign sessions; their commands that report progress.
Never: takes hidden sessions for none: without pg_monitor the sampler warns that it cannot see them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pgassay.trials.model.record import Columns

BASE_BACKUP = "BASE_BACKUP"
"""As the progress queries call it."""


def foreign_maintenance(counters: Columns, window: tuple[int, int]) -> set[str]:
    """Returns the commands of other sessions under way in `window`, by the views of progress, each
    second: VACUUM, ANALYZE, CREATE INDEX, CLUSTER, a base backup.

    Not COPY, which is work as any other, nor autovacuum, which the load itself calls up.
    """
    start, end = window
    rows = zip(*(counters[name] for name in ("time_ns", "source", "object")), strict=True)
    found = {
        str(what).partition("/")[0]
        for time_ns, source, what in rows
        if source == "progress" and start <= time_ns < end and str(what).endswith("/another")
    }
    return {command for command in found if not command.startswith("COPY")}


def foreign_load(
    waits: Mapping[str, Iterable[Any]],
    window: tuple[int, int],
    fewest_samples: int,
    own_backends: Collection[int] = (),
) -> float | None:
    """Returns how many client sessions of others were at work on average over `window`; None where
    too few samples are.

    A session of the load was sampled in a scenario at some time, or its process is known; a foreign
    one never. One that was sampled only once may be the load's, between two transactions.
    """
    start, end = window
    rows = zip(
        *(waits[name] for name in ("tick_ns", "pid", "backend_type", "state", "scenario")),
        strict=True,
    )
    ticks: set[int] = set()
    own = set(own_backends)
    sampled: dict[int, int] = {}
    for tick, pid, backend_type, state, scenario in rows:
        if scenario is not None:
            own.add(pid)
        if not start <= tick < end:
            continue
        ticks.add(tick)
        if backend_type == "client backend" and state == "active" and scenario is None:
            sampled[pid] = sampled.get(pid, 0) + 1
    if len(ticks) < fewest_samples:
        return None
    foreign = sum(count for pid, count in sampled.items() if pid not in own and count > 1)
    return foreign / len(ticks)


def measured_window(steps: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Returns the start of the first measured step and the end of the last one, in nanoseconds."""
    measured = [step for step in steps if step["measured"]]
    if not measured:
        return (0, 0)
    return measured[0]["start_ns"], measured[-1]["end_ns"]
