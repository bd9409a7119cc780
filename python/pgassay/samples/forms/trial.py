"""trial.json, and failed.jsonl, which has the trials that broke off.

Enters: a `TrialRecord`, or the object of the file. Leaves: a `TrialFile`.
Never: requires a key that older versions did not write, or that is not read.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from pgassay.plan.model import ALL_ARMS
from pgassay.refusals.refusal import UnfitValue
from pgassay.samples.forms.other_programs import OtherPrograms
from pgassay.stored_model import Codes, Items, Number, Part, SaidNote, SaidNotes, Stored, StoredFile


class Step(Stored):
    """One step of the load, as it was run."""

    index: int
    clients: Number
    measured: bool
    start_ns: int
    end_ns: int
    transactions: int
    failed: int
    tps: Number
    client_cpu_s: Number
    rate: Number | None = None
    rate_asked: Number | None = None


class Latency(Stored):
    """In milliseconds; None where no transaction ended."""

    mean: Number | None = None
    p50: Number | None = None
    p95: Number | None = None
    p99: Number | None = None


class Slice(Stored):
    """One slice of a step in which variants alternate."""

    index: int
    variant: str
    start_ns: int
    end_ns: int
    transactions: int
    failed: int
    crossing: int
    latency_ms: Latency


class ReplayedStatement(Stored):
    """A statement of a replayed trace, by its number there: those that took most time have one."""

    number: int
    word: str
    """The first of its text."""
    count: int
    failed: int
    mean_ms: Number | None = None
    """Response time of those that succeeded; None where none did."""


class Replay(Part):
    """What a load has that replays a trace."""

    statements: Items[ReplayedStatement] = ()


class Load(Part):
    """The load's result (`pgassay.load/1`)."""

    steps: Items[Step]
    slices: Items[Slice] = ()
    backend: str | None = None
    latency_ms: Latency = Latency()
    client_cpu_s: Number | None = None
    replay: Replay | None = None

    @property
    def measured(self) -> tuple[Step, ...]:
        """The steps that are not warm-up."""
        return tuple(step for step in self.steps if step.measured)

    @property
    def levels(self) -> tuple[float, ...]:
        """The rate of each measured step, where the steps differ by it, else its clients."""
        rates = {step.rate for step in self.measured}
        return tuple(
            step.rate if len(rates) > 1 and step.rate is not None else step.clients
            for step in self.measured
        )

    @property
    def transactions(self) -> int:
        """The number of transactions of all steps, the warm-up included."""
        return sum(step.transactions for step in self.steps)


class Reset(Part):
    """How the server was reset before the trial."""

    duration_s: Number | None = None
    arms: dict[str, Any] | None = None
    """Of a duet: the reset of each arm's server."""


class Host(Stored):
    """The state of the server's host."""

    knobs: dict[str, str] = Field({})
    frequency_mhz: Number | None = None
    throttled: int | None = None


class Look(Stored):
    """A reading of what must not change during a trial."""

    version: str
    started_at_s: Number | None = None
    settings: dict[str, str]
    database_bytes: int | None = None
    host: Host | None = None


class Processors(Stored):
    """Processor time during the load."""

    server_s: Number
    all_s: Number | None = None
    foreign_user_s: Number | None = None
    steal_s: Number | None = None


class Fingerprint(Part):
    """The readings before and after the load."""

    before: Look | None = None
    after: Look | None = None
    processors: Processors | None = None
    other_programs: OtherPrograms | None = None


class StoredValidity(Stored):
    """Whether the trial counts; in older runs, which do not store it, every trial counts."""

    valid: bool = True
    notes: Annotated[SaidNotes, Codes("notes")] = Field((), alias="reasons")


class FailedLine(Stored):
    """One line of failed.jsonl, a trial that broke off."""

    number: int
    block: int
    arm: str
    reason: SaidNote = None
    repeats: int | None = None


class TrialFile(StoredFile):
    """What trial.json says of one trial; the samples are in Parquet files beside it."""

    schema_: Literal["pgassay.trial/1"] = Field("pgassay.trial/1", alias="schema")
    number: int
    block: int
    position: int
    arm: str
    levels: dict[str, str]
    started_ns: int | None = None
    ended_ns: int | None = None
    reset: Reset = Reset()
    load: Load
    writes: Load | None = Field(None, exclude_if=lambda value: value is None)
    """Of a query set: that of the writes after it."""
    sampler_cost: dict[str, Number] = Field({})
    placement: dict[str, dict[str, str]] = Field({})
    checkpoints_from: str
    log: dict[str, Any] = Field({})
    clock: dict[str, Any] = Field({})
    notes: Annotated[SaidNotes, Codes("notes")] = Field(alias="warnings")
    """What makes the trial's figures doubtful."""
    validity: StoredValidity = StoredValidity()
    repeats: int | None = None
    server: str = Field("", exclude_if=lambda value: not value)
    set_by_load: dict[str, Items[str]] = Field({}, exclude_if=lambda value: not value)
    fingerprint: Fingerprint = Fingerprint()
    reloading: dict[str, Any] = Field({}, exclude_if=lambda value: not value)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        steps = self.load.steps
        if self.arm == ALL_ARMS and not self.load.slices:
            raise UnfitValue("slices-missing")
        for place, step in enumerate(steps):
            if min(step.transactions, step.failed, step.end_ns - step.start_ns) < 0:
                raise UnfitValue("step-below-nothing", place=f"load.steps[{place}]")
        if not self.load.measured:
            raise UnfitValue("no-measured-step")
        without = [step for step in self.load.measured if step.rate is None]
        if without and len(without) < len(self.load.measured):
            lacking = f"load.steps[{steps.index(without[0])}].rate"
            raise UnfitValue("stored-key-missing", place=lacking)
        return self
