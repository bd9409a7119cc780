"""What a trace shows, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

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
    """Everything."""

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
