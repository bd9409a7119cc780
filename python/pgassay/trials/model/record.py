"""What one trial, or one segment of an observation, leaves before it is stored.

Enters: nothing. Leaves: the `TrialRecord`, `Piece` and `SegmentEnd` values.
Never: touches a server or a disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pgassay.notes import Note
from pgassay.trials.server_log.events import LogEvent

if TYPE_CHECKING:  # `pgassay load` is not to wait for it
    from pgassay.trials.model.columns import PackedTables

Columns = Mapping[str, list[Any]]
"""Column name → values, all of one length; the columns are those of pgassay._core."""


CheckpointSource = Literal["log", "counters", "both"]
"""Where checkpoints are known from; both: by counters where the log has gaps."""


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint, as in the server's log; times on the samples' axis."""

    started_ns: int
    ended_ns: int | None
    cause: str
    """`time`, `wal`, or another word of the server's (`immediate force wait`, `shutdown`)."""
    buffers: int | None = None
    write_s: float | None = None
    sync_s: float | None = None
    total_s: float | None = None
    distance_kb: int | None = None
    estimate_kb: int | None = None
    restartpoint: bool = False
    """A standby's checkpoint."""
    buffers_percent: float | None = None
    slru_buffers: int | None = None
    files_added: int | None = None
    files_removed: int | None = None
    files_recycled: int | None = None
    sync_files: int | None = None
    sync_longest_s: float | None = None
    sync_average_s: float | None = None
    lsn: int | None = None
    redo_lsn: int | None = None
    """WAL positions, in bytes since its beginning."""


@dataclass(frozen=True)
class FailedTrial:
    """A trial that broke off by what happened in it: nothing of it is stored, and the run ends."""

    number: int
    block: int
    arm: str
    reason: Note | None
    repeats: int | None = None
    """The number of the invalid trial that it was run for."""


@dataclass(frozen=True)
class Validity:
    """Whether a trial counts."""

    notes: tuple[Note, ...] = ()
    """Why it does not count; empty where it does."""

    @property
    def valid(self) -> bool:
        """Whether no guard found a reason why not."""
        return not self.notes

    @property
    def reasons(self) -> tuple[str, ...]:
        """Returns the sentences of the reasons why a trial does not count."""
        return tuple(map(str, self.notes))


@dataclass(frozen=True)
class TrialRecord:
    """One trial: what was asked, what was set, what was measured."""

    number: int
    block: int
    position: int
    arm: str
    levels: Mapping[str, str]
    started_ns: int
    ended_ns: int
    reset: Mapping[str, Any]
    load: Mapping[str, Any]
    sampler_cost: Mapping[str, Any]
    notes: tuple[Note, ...]
    """What makes its figures doubtful."""
    intervals: Columns
    waits: Columns | PackedTables
    counters: Columns | PackedTables
    host: Columns | PackedTables
    checkpoints: tuple[Checkpoint, ...]
    checkpoints_from: CheckpointSource
    events: tuple[LogEvent, ...] = ()
    """Other events of the server's log."""
    log: Mapping[str, Any] = field(default_factory=dict)
    """Where the log was read and how much of it; empty where it was not."""
    clock: Mapping[str, Any] = field(default_factory=dict)
    """The server's clock against ours; times of its log are on our axis already."""
    kept: tuple[Path, ...] = ()
    """Files to move into the trial's folder."""
    placement: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Server, client, sampler → CPUs and niceness as read back; empty where none was asked for."""
    validity: Validity = Validity()
    repeats: int | None = None
    """The number of the invalid trial that this one was run for."""
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    """`before`, `after` and `processors`, for trial.json."""
    reloading: Mapping[str, Any] = field(default_factory=dict)
    """Of settings of the whole server that alternate: how many edges, how late; else empty."""
    leading_bits: int | None = None
    """Of a latency, so many bits decide its bucket; None where latencies are exact."""
    plans: Mapping[str, Any] = field(default_factory=dict)
    """The object of plans.json; empty where the plans of statements were not asked for."""
    queries: Columns = field(default_factory=dict)
    """Columns of `QUERIES`; empty where the load is no query set."""
    query_plans: Mapping[str, Any] = field(default_factory=dict)
    """The object of query_plans.json; empty where the load is no query set."""
    writes: Mapping[str, Any] | None = None
    """Of a query set: the result of the writes after it, if there are any, as of a load."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """queryid → text of the statements that took most."""
    set_by_load: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Setting of the experiment → scenarios that set it themselves; asked in the first block."""
    server: str = ""
    """Of a fleet: the name of the server that it ran on."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Returns the sentences of the trial's warnings."""
        return tuple(str(one) for one in self.notes)


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
    notes: tuple[Note, ...]
    """In no earlier segment with these values; one of a kind may come again with other figures."""
    log: Mapping[str, Any] = field(default_factory=dict)
    clock: Mapping[str, Any] = field(default_factory=dict)
    statements: Mapping[str, str] = field(default_factory=dict)
    """queryid → text of the statements that took most."""
