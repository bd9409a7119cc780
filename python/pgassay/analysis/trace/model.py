"""What a trace shows, as values, and figures of durations counted in buckets.

Enters: buckets of powers of two, by their lower bound in microseconds. Leaves: frozen dataclasses,
quantiles, bounds. Never: claims more than a bucket knows: quantiles are exact to a factor of two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PointSummary:
    """One point and key: over the whole trace, or over a period of it."""

    point: str
    key: str
    """A lock, a kind of relation; empty for a point without keys."""
    count: int
    per_s: float
    total_s: float
    in_it: float
    """Processes that were in it at a time, on average."""
    per_tx_us: float | None
    """Time for each transaction of the server; None where none ended."""
    mean_us: float
    """Exact; the quantiles are exact to a factor of two."""
    p50_us: float | None
    p99_us: float | None
    longest_us: float | None
    """No longer one was counted: the end of the highest bucket."""


@dataclass(frozen=True)
class PointCourse:
    """One point and key by second."""

    point: str
    key: str
    count: tuple[int, ...]
    in_it: tuple[float, ...]
    p99_us: tuple[float | None, ...]
    buckets: tuple[dict[int, int], ...]


@dataclass(frozen=True)
class TracedCheckpoint:
    """A checkpoint or a restartpoint; a part that was not seen whole is None."""

    start_ns: int
    end_ns: int | None
    cause: str
    write_s: float | None
    sync_s: float | None


@dataclass(frozen=True)
class Period:
    """A stretch before, in or after a checkpoint, of whole seconds of the trace."""

    checkpoint: int
    """Its place in the list, from 1."""
    name: str
    """before, during, after."""
    seconds: float
    tps: float | None
    points: tuple[PointSummary, ...]


@dataclass(frozen=True)
class TracedRelation:
    """What reads or writes of one relation took."""

    name: str
    kind: str
    point: str
    count: int
    total_s: float
    mean_us: float


@dataclass(frozen=True)
class TraceSummary:
    """The figures of a whole trace."""

    start_ns: int
    end_ns: int
    seconds: float
    transactions: int | None
    tps: float | None
    points: tuple[PointSummary, ...]
    """By total time, the longest first."""
    checkpoints: tuple[TracedCheckpoint, ...]
    periods: tuple[Period, ...]
    relations: tuple[TracedRelation, ...]
    pairs: int
    """Pairs of probes that were counted."""
    pairs_per_s: float
    cost_share: float
    """Processor time that the probes took, about, as a share of one processor."""
    times_ns: tuple[int, ...] = ()
    """The middles of the seconds of the courses."""
    tps_course: tuple[float | None, ...] = ()
    courses: tuple[PointCourse, ...] = ()


@dataclass(frozen=True)
class WithAgainstWithout:
    """One figure with the probes and without, over pairs of windows."""

    without: float
    probed: float
    ratio: float
    low: float | None
    high: float | None
    """Ends of the ratio's 95 % interval."""


@dataclass(frozen=True)
class TraceCost:
    """What tracing costs, as measured."""

    pairs: int
    window_s: float
    tps: WithAgainstWithout
    cpu_per_tx_us: WithAgainstWithout
    """Processor time of the server's processes; other programs of the host disturb it less."""


Buckets = Mapping[int, int]


def upper_us(low: int) -> int:
    """Returns where a bucket ends (µs): bpftrace's first is [0, 1), its others [n, 2n)."""
    return 2 * low if low else 1


def quantile_us(buckets: Buckets, share: float) -> float | None:
    """The duration that this share of the counted ones stays below; within the bucket that holds
    it durations are taken as spread evenly. None where nothing was counted."""
    whole = sum(buckets.values())
    if not whole:
        return None
    wanted, passed = share * whole, 0
    for low in sorted(buckets):
        inside = buckets[low]
        if inside and passed + inside >= wanted:
            width = upper_us(low) - low
            return low + width * max(wanted - passed, 0.0) / inside
        passed += inside
    return None


def longest_us(buckets: Buckets) -> float | None:
    """Returns a bound (µs) that no counted duration exceeds; None where nothing was counted."""
    return max((upper_us(low) for low, inside in buckets.items() if inside), default=None)
