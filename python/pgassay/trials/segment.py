"""What an observation leaves of one stretch of time, before it is written anywhere.

Enters: nothing. Leaves: the `Piece` and `SegmentEnd` values. Never: touches a server or a disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pgassay.trials.record import Checkpoint, Columns
from pgassay.trials.server_log.events import LogEvent


@dataclass(frozen=True)
class Piece:
    """What the samplers have read since the last piece."""

    waits: Columns
    counters: Columns
    host: Columns


@dataclass(frozen=True)
class SegmentEnd:
    """What is known only when a segment is over."""

    started_ns: int
    ended_ns: int
    counters: Columns
    """Statements by difference."""
    checkpoints: tuple[Checkpoint, ...]
    checkpoints_from: Literal["log", "counters"]
    events: tuple[LogEvent, ...]
    sampler_cost: Mapping[str, Any]
    """Since the segment began."""
    warnings: tuple[str, ...]
    """Not told in an earlier segment."""
    log: Mapping[str, Any] = field(default_factory=dict)
    clock: Mapping[str, Any] = field(default_factory=dict)
