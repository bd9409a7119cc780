"""What shared_buffers held, by arm.

Enters: the signals of each arm. Leaves: a `BufferCache` per arm that was sampled.
Never: compares arms, or tells one relation from another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgassay.analysis.measures.signals import ArmSignals

_SOURCE = "buffercache"


@dataclass(frozen=True)
class BufferCache:
    """Means over the measured time of the trials of an arm; buffers are pages of 8 kB."""

    arm: str
    trials: int
    used: float
    unused: float
    dirty: float
    pinned: float
    usage_count: float | None
    """The mean of the used buffers: 0 is evicted next, 5 is the highest."""


def buffer_caches(signals: Sequence[ArmSignals]) -> tuple[BufferCache, ...]:
    """Of the arms in which pg_buffercache was read: version 16 and later."""
    return tuple(_every(signals))


def _every(signals: Sequence[ArmSignals]) -> Iterator[BufferCache]:
    for arm in signals:
        used = arm.total(_SOURCE, name="buffers_used")
        known = sum(value is not None for value in used)
        if known:
            yield BufferCache(
                arm.arm,
                known,
                used=_mean(arm, "buffers_used"),
                unused=_mean(arm, "buffers_unused"),
                dirty=_mean(arm, "buffers_dirty"),
                pinned=_mean(arm, "buffers_pinned"),
                usage_count=arm.mean(_SOURCE, name="usagecount_avg"),
            )


def _mean(arm: ArmSignals, name: str) -> float:
    return arm.mean(_SOURCE, name=name) or 0.0
