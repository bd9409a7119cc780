"""Checkpoints that somebody has asked for, told from those that the volume of WAL has.

Enters: the checkpoints of a trial, the WAL's position by the second, the server as it was found
before. Leaves: the same checkpoints; of those that the counters only call requested, each that came
long before its WAL has that for its cause. Never: takes one for asked for that WAL might explain.

A log says which it was; the counters count both as requested. By volume a checkpoint begins
max_wal_size / (1 + checkpoint_completion_target) after the last one did, in whole segments.
Source: CalculateCheckpointSegments and XLogCheckpointNeeded of PostgreSQL 13 to 18.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.trials.fingerprint import Fingerprint
from pgassay.trials.record import Checkpoint, Columns

REQUESTED = "requested"
ASKED_FOR = "requested, not by WAL"
DECIDED_BY = frozenset({"max_wal_size", "checkpoint_completion_target"})
_MIB = 1 << 20


def told_apart(
    checkpoints: Sequence[Checkpoint], counters: Columns, before: Fingerprint
) -> list[Checkpoint]:
    """In their order; as they are where the WAL between them is not known."""
    least = least_volume(before)
    positions = _positions(counters)
    redo: float | None = before.redo_position
    told = []
    for one in checkpoints:
        at = next((position for at_ns, position in positions if at_ns >= one.started_ns), None)
        written = None if redo is None or at is None else at - redo
        asked = least is not None and written is not None and written < least
        told.append(replace(one, cause=ASKED_FOR) if asked and one.cause == REQUESTED else one)
        past = (position for at_ns, position in reversed(positions) if at_ns < one.started_ns)
        redo = next(past, None)
    return told


def least_volume(server: Fingerprint) -> int | None:
    """Bytes of WAL after a checkpoint before which volume asks for none; None where any may do."""
    try:
        segment = int(server.settings["wal_segment_size"])
        most = int(server.settings["max_wal_size"]) * _MIB
        target = float(server.settings["checkpoint_completion_target"])
    except (KeyError, ValueError):
        return None
    # One segment less for the place of the last checkpoint in its own, one for the comparison.
    return (int(most / segment / (1.0 + target)) - 2) * segment


def _positions(counters: Columns) -> list[tuple[int, float]]:
    columns = (counters[name] for name in ("time_ns", "source", "name", "value"))
    return sorted(
        (at, value)
        for at, source, name, value in zip(*columns, strict=True)
        if source == "wal_position" and name == "insert_bytes" and value is not None
    )
