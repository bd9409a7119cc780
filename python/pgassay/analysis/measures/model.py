"""One trial reduced to what is compared, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Literal

from pgassay.analysis.host.model import HostWindow
from pgassay.notes import Importance, Note

CUT = 0.25
"""Share of a slice that is cut from its beginning; stored intervals are a quarter of it."""
SignalKey = tuple[str, str, str]
"""Source, object, name."""


@dataclass(frozen=True)
class Caveat:
    """Something that makes the measurement less certain, stored with the result."""

    kind: str
    note: Note
    importance: Importance
    """What it could change."""
    trials: tuple[int, ...] = ()
    """The numbers of the trials that it is of; empty where it is of the run."""

    @classmethod
    def of(
        cls, kind: str, note: Note, importance: Importance | None = None, trials: Sequence[int] = ()
    ) -> Caveat:
        """A caveat that is as important as its note, unless that is computed."""
        return cls(kind, note, importance or note.importance, tuple(trials))

    @property
    def text(self) -> str:
        """The sentence, in the language in force."""
        return str(self.note)


@dataclass(frozen=True)
class LatencyCurve:
    """Quantiles at `histograms.CURVE_SHARES`."""

    of: Literal["latency", "response"]
    quantiles_ms: tuple[float, ...]


@dataclass(frozen=True)
class StepMeasures:
    """Estimates of one measured step of a trial, or of all of them (`level` is None)."""

    level: float | None
    """Clients, or the requested rate where the steps differ in it."""
    start_ns: int
    end_ns: int
    transactions: int
    values: Mapping[str, float]
    """Metric → value, without metrics that could not be measured."""
    latency_curve: LatencyCurve | None = None
    clients: float = 0.0
    """The mean number of clients of a closed loop; 0 where a rate sets the load, or unknown."""
    tps_by_duration: float | None = None
    """Throughput by the mean duration of its transactions; None where they do not fill the time of
    all clients, as with a think time, or where durations are not known."""

    @property
    def rate(self) -> float | None:
        """Returns transactions per second, which of a query set is no metric; None where no
        transaction was committed."""
        if not self.transactions or self.end_ns <= self.start_ns:
            return None
        return self.values.get("tps", 1e9 * self.transactions / (self.end_ns - self.start_ns))


@dataclass(frozen=True)
class ScenarioMeasures:
    """One scenario over the measured steps of a trial."""

    scenario: str
    transactions: int
    failed: int
    tps: float
    errors: Mapping[str, int]
    """Failed transactions by SQLSTATE."""
    of: Literal["latency", "response"]
    """What the quantiles are of: from when a transaction was due, where it had such a moment."""
    quantiles_ms: Mapping[str, float]
    """`mean`, `p50`, `p95`, `p99`; empty where no transaction succeeded."""


ExplainPlan = Sequence[Mapping[str, Any]]
"""What EXPLAIN (FORMAT JSON) gives for a query: one entry for each statement of it."""


@dataclass(frozen=True)
class QueryCosts:
    """What executions of a query cost, as means; None where PostgreSQL does not tell.

    Blocks are pages of 8 kB.
    """

    hit: float | None = None
    """Blocks of shared buffers that were found there; likewise the next three."""
    read: float | None = None
    dirtied: float | None = None
    written: float | None = None
    temp_read: float | None = None
    """Blocks of temporary files; likewise the next one."""
    temp_written: float | None = None
    rows: float | None = None
    wal_bytes: float | None = None
    planning_ms: float | None = None
    execution_ms: float | None = None

    @property
    def blocks(self) -> float | None:
        """Returns the blocks that were asked for, whether found in shared buffers or read."""
        return None if self.hit is None or self.read is None else self.hit + self.read

    @property
    def temp(self) -> float | None:
        """Returns the blocks of temporary files that were read and written."""
        if self.temp_read is None or self.temp_written is None:
            return None
        return self.temp_read + self.temp_written


@dataclass(frozen=True)
class TrialQueries:
    """The queries of a set, or the scenarios of a load, in one arm of one trial.

    A trial in which arms alternate has one of these for each arm.
    """

    number: int
    block: int
    arm: str
    ms: Mapping[str, float]
    """Query → its time in milliseconds, of its executions that count (`time_of`)."""
    costs: Mapping[str, QueryCosts] = field(default_factory=dict)
    plans: Mapping[str, ExplainPlan] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Query → SQLSTATE → failed executions."""
    rows: Mapping[str, Mapping[int, tuple[int, ...]]] = field(default_factory=dict)
    """Query → execution → how many rows it returned, in order: one number, or, where sessions
    differ, several."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Query → a text that is the same for the same rows, of queries whose answers were taken."""
    p95_ms: Mapping[str, float] = field(default_factory=dict)
    """Query → 95th percentile of its executions, where enough count."""

    def ran(self, query: str) -> bool:
        """Whether the trial executed a query, with or without success."""
        return query in self.ms or query in self.failed


@dataclass(frozen=True)
class VariantMeasures:
    """All slices of one variant in a trial."""

    variant: str
    slices: int
    seconds: float
    transactions: int
    """Those that began and ended in one slice; `tps` and `latency_mean_ms` are of these."""
    crossing: int
    """Transactions that ended in a slice and began before it, failed ones included."""
    tps: float
    latency_mean_ms: float | None


@dataclass(frozen=True)
class VariantSummary:
    """One variant in one arm: sums over its trials, and means of the trials' values."""

    arm: str
    variant: str
    trials: int
    slices: int
    transactions: int
    crossing: int
    tps: float
    latency_mean_ms: float | None


@dataclass(frozen=True)
class SliceMeasures:
    """One slice of a switchback or duet, without its first part."""

    round: int
    """Counted from 0 in its trial."""
    arm: str
    start_ns: int
    values: Mapping[str, float]
    """Metric → value, over the kept part."""
    early: Mapping[str, float]
    late: Mapping[str, float]
    """The same over the first, and over the last stored interval of the kept part."""
    transactions: int = 0
    failed: int = 0
    """Both over the whole slice, of transactions that began in it."""


@dataclass(frozen=True)
class OtherUse:
    """What programs other than the server and pgassay used of the host during the load."""

    percent: float
    """Of all processors, by user time."""
    programs: tuple[tuple[str, float], ...] = ()
    """Name and share in per cent of those that used most; empty in runs of older versions."""


@dataclass(frozen=True)
class TrialMeasures:
    """One trial, reduced to what is compared."""

    number: int
    block: int
    position: int
    arm: str
    whole: StepMeasures
    steps: tuple[StepMeasures, ...]
    warnings: tuple[Caveat, ...]
    variants: tuple[VariantMeasures, ...] = ()
    invalid: tuple[Note, ...] = ()
    """Why it does not count; empty where it does."""
    repeats: int | None = None
    """The number of the invalid trial that this one repeats."""
    is_repeated: bool = False
    """Whether its guards found it invalid, so that the run repeats it."""
    host: HostWindow | None = None
    """The measured part in columns of vmstat and iostat; None where the host was not read."""
    turns: tuple[SliceMeasures, ...] = ()
    """The slices of whole rounds, in a switchback or duet."""
    scenarios: tuple[ScenarioMeasures, ...] = ()
    queries: tuple[TrialQueries, ...] = ()
    """Of a set of queries, by arm; not in analysis.json."""
    server: str = ""
    """Of a fleet: the server that it ran on."""
    set_by_load: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Settings of the experiment that the load sets itself, with the scenarios that do."""
    others: OtherUse | None = None
    """None where the host was not read."""

    def at(self, level: float | None) -> StepMeasures | None:
        """The step at this level; None for the whole trial."""
        if level is None:
            return self.whole
        return next((step for step in self.steps if step.level == level), None)

    @cached_property
    def worked_out(self) -> dict[Hashable, Any]:
        """Holds what was made of the slices: a run is analysed after every block, its trials
        stay."""
        return {}


@dataclass(frozen=True)
class TrialSignals:
    """The signals of one trial."""

    number: int
    block: int
    arm: str
    seconds: float
    transactions: int
    values: Mapping[SignalKey, float]
    samples: Mapping[str, int] = field(default_factory=dict)
    """Wait event → sampled sessions of the load that were found in it."""


@dataclass(frozen=True)
class ArmSignals:
    """The trials of one arm, in order of their blocks."""

    arm: str
    trials: tuple[TrialSignals, ...]

    @cached_property
    def keys(self) -> frozenset[SignalKey]:
        """Returns every signal of any trial."""
        return frozenset(key for trial in self.trials for key in trial.values)

    def total(self, source: str, thing: str = "*", name: str = "*") -> tuple[float | None, ...]:
        """The sum over matching signals in each trial; None where a trial has none.

        `*` in object and name stands for any text; case counts, except in wait events, because
        PostgreSQL 17 respelt some of them.
        """
        wanted = self._matching(source, thing, name)
        found = []
        for trial in self.trials:
            known = [trial.values[key] for key in wanted if key in trial.values]
            found.append(sum(known) if known else None)
        return tuple(found)

    def mean(self, source: str, thing: str = "*", name: str = "*") -> float | None:
        """The mean of `total` over the trials that have it."""
        known = [value for value in self.total(source, thing, name) if value is not None]
        return sum(known) / len(known) if known else None

    def _matching(self, source: str, thing: str, name: str) -> list[SignalKey]:
        return [
            key
            for key in self.keys
            if key[0] == source
            and fnmatchcase(key[1], thing)
            and fnmatchcase(key[2].lower(), name.lower())
        ]


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


@dataclass(frozen=True)
class TrialCheckpoint:
    """One checkpoint that began in the measured part; what its log line did not say is None."""

    started_s: float
    """From the beginning of the measured part."""
    ended_s: float | None
    cause: str
    buffers: int | None
    write_s: float | None
    sync_s: float | None
    sync_longest_s: float | None
    distance_kb: int | None
