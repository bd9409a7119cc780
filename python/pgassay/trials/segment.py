"""What an observation leaves of one stretch of time, before it is written anywhere.

Enters: nothing. Leaves: the `Piece` and `SegmentEnd` values. Never: touches a server or a disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pgassay.trials.record import Checkpoint, CheckpointSource, Columns
from pgassay.trials.server_log.events import LogEvent

_AMOUNT = re.compile(r"[-+]?\d[\d.,]*(?= (?:ms|s|kB|MB|GB)\b)")


def kind_of(warning: str) -> str:
    """A warning without its measured amounts: what comes again with others is told once."""
    return _AMOUNT.sub("N", warning)


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
    checkpoints_from: CheckpointSource
    events: tuple[LogEvent, ...]
    sampler_cost: Mapping[str, Any]
    """Since the segment began."""
    warnings: tuple[str, ...]
    """In no earlier segment in these words; one of a kind may come again with other amounts."""
    log: Mapping[str, Any] = field(default_factory=dict)
    clock: Mapping[str, Any] = field(default_factory=dict)
