"""Separates checkpoints that a command requested from those that WAL volume caused.

Enters: the checkpoints of a trial, the WAL's position by the second, the server's settings before.
Leaves: the same checkpoints; where the counters only say "requested" and too little WAL was written
to cause one, the cause is `ASKED_FOR`. Never: calls one asked for that WAL volume might explain.

A log names the cause; the counters count both as requested. By volume a checkpoint begins
max_wal_size / (1 + checkpoint_completion_target) after the last one did, in whole segments.
Source: CalculateCheckpointSegments and XLogCheckpointNeeded of PostgreSQL 13 to 18.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgassay.trials.checkpoints.counted import readings
from pgassay.trials.model.record import Checkpoint, Columns

REQUESTED = "requested"
ASKED_FOR = "requested, not by WAL"
DECIDED_BY = frozenset({"max_wal_size", "checkpoint_completion_target"})
_WAL = "insert_bytes"
_MIB = 1 << 20


def with_asked_for(
    checkpoints: Sequence[Checkpoint],
    counters: Columns,
    settings: Mapping[str, str],
    redo_position: int | None,
) -> list[Checkpoint]:
    """Returns the checkpoints with the cause of those that were asked for; unchanged where the WAL
    between them is unknown.

    `settings` and `redo_position` (where the last checkpoint began) are those of before the load.
    """
    least = least_volume(settings)
    positions = _positions(counters)
    redo: float | None = redo_position
    found = []
    for one in checkpoints:
        at = next((position for at_ns, position in positions if at_ns >= one.started_ns), None)
        written = None if redo is None or at is None else at - redo
        asked = least is not None and written is not None and written < least
        found.append(replace(one, cause=ASKED_FOR) if asked and one.cause == REQUESTED else one)
        past = (position for at_ns, position in reversed(positions) if at_ns < one.started_ns)
        redo = next(past, None)
    return found


def least_volume(settings: Mapping[str, str]) -> int | None:
    """Returns the bytes of WAL after a checkpoint below which volume causes no other; None where
    unknown."""
    try:
        segment = int(settings["wal_segment_size"])
        most = int(settings["max_wal_size"]) * _MIB
        target = float(settings["checkpoint_completion_target"])
    except (KeyError, ValueError):
        return None
    # One segment less for the place of the last checkpoint in its own, one for the comparison.
    return (int(most / segment / (1.0 + target)) - 2) * segment


def _positions(counters: Columns) -> list[tuple[int, float]]:
    return [(at, values[_WAL]) for at, _, values in readings(counters) if _WAL in values]
