"""Made-up segments of an observation.

Enters: figures. Leaves: segments on disk. Never: observes a server.
"""

from __future__ import annotations

from typing import Any

from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.trials.model.record import Piece, SegmentEnd

S = 1_000_000_000
NOTHING: dict[str, list[Any]] = {
    "time_ns": [], "source": [], "object": [], "name": [], "value": [],
}  # fmt: skip


def waits(start_s: int, count: int) -> dict[str, list[Any]]:
    ticks = [start_s * S + n * S // 10 for n in range(count)]
    return {
        "tick_ns": ticks,
        "pid": [7] * count,
        "leader_pid": [None] * count,
        "backend_type": ["client backend"] * count,
        "state": ["active"] * count,
        "wait_event_type": ["Lock"] * count,
        "wait_event": ["tuple"] * count,
        "query_id": [None] * count,
        "xact_start_ns": [None] * count,
        "scenario": [None] * count,
    }


def end_of(start_s: int, end_s: int, **more: Any) -> SegmentEnd:
    given: dict[str, Any] = {
        "counters": NOTHING, "checkpoints": (), "checkpoints_from": "log", "events": (),
        "sampler_cost": {"wait_ticks": 10, "transactions": 20, "cpu_s": 0.01}, "notes": (),
    }  # fmt: skip
    return SegmentEnd(start_s * S, end_s * S, **{**given, **more})


def write(directory: ObservationDirectory, number: int, piece: Piece, end: SegmentEnd) -> None:
    with directory.write_segment(number) as segment:
        segment.add(piece)
        segment.finish(end)
