"""What an observation shows, as a value.

Enters: nothing. Leaves: the frozen `ObservationSummary`. Never: computes more than a sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pgassay.analysis.host.model import HostWindow
from pgassay.analysis.observation.standby_lag import Unknown
from pgassay.analysis.observation.statements import Statement
from pgassay.analysis.sampled.model import HostFigure
from pgassay.notes import Note

if TYPE_CHECKING:
    from pgassay.analysis.classic.model import ClassicView

BinnedSeries = tuple[float | None, ...]


@dataclass(frozen=True)
class ObservationSummary:
    """Everything that the report of an observation shows."""

    start_ns: int
    end_ns: int
    edges_ns: tuple[int, ...]
    courses: Mapping[str, BinnedSeries]
    """By name, a value for each bin: tps, rollbacks (1/s), wal (bytes/s), read, written (bytes/s),
    busy, iowait, steal (percent of the host's processors); of a standby replay_lag_ms,
    replay_behind_bytes, receive_behind_bytes. Figures that were not read are absent."""
    sessions: Mapping[str, BinnedSeries]
    """Wait class → average active sessions in each bin."""
    averages: Mapping[str, float]
    """The mean of each course, over the time that was read."""
    commits: float
    """Of all databases, without the samplers' transactions."""
    classes: Mapping[str, float]
    """Wait class → average active sessions; without cpu_queue where it is unknown."""
    events: Mapping[str, float]
    """The same by single event, the largest first."""
    checkpoints: tuple[Mapping[str, Any], ...]
    """Rows of checkpoints.parquet."""
    checkpoints_from: str
    """`log`, `counters`, or `both` where the log was not always readable."""
    logged: Mapping[str, int]
    """Events in the server's log, by kind."""
    log_read: bool
    statements: tuple[Statement, ...]
    gaps_ns: tuple[tuple[int, int], ...]
    """When nothing was read."""
    notes: tuple[Note, ...]
    """Each kind once, with its latest amounts."""
    cost: Mapping[str, float]
    """What the sampling cost in total."""
    clock: Mapping[str, Any]
    bytes_on_disk: int
    sampled_waits: Mapping[str, float] = field(default_factory=dict)
    """Wait event → average waiting sessions by pg_wait_sampling; empty without it."""
    largest: Mapping[str, float] = field(default_factory=dict)
    """The largest reading of each course that is a size, not a rate."""
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    """Figures of a standby that were unknown at times."""
    classic: ClassicView | None = None
    """pg_expecto's figures."""
    infrastructure: tuple[HostFigure, ...] = ()
    """The host's figures over even intervals and over all of the time."""
    host: HostWindow | None = None
    """In the columns of vmstat and iostat, over the time in which the host was read."""
    host_windows: tuple[HostWindow, ...] = ()
    """The same in windows of equal length."""

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def active_sessions(self) -> float:
        """Average active sessions of all classes."""
        return sum(self.classes.values())

    def ms_per_transaction(self, sessions: float) -> float | None:
        """Average active sessions as milliseconds per transaction; None without transactions."""
        tps = self.averages.get("tps")
        return 1e3 * sessions / tps if tps else None
