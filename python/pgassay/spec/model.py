"""The experiment file as frozen values: one class per table, one field per key.

Enters: the dict that tomllib made. Leaves: `ExperimentFile`, or pydantic's ValidationError.
Never: reads files or reaches servers; `reading/tables.py` turns errors into messages.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.endpoints import (
    OF_QUERIES,
    PrimaryMetric,
    as_margins,
    checked_names,
    usual_metric,
)
from pgassay.spec.factors.tables import EmbeddedVersion, FactorsTable
from pgassay.spec.load.slices import Length
from pgassay.spec.load.table import LoadTable
from pgassay.spec.reading.connection_strings import without_password
from pgassay.spec.reading.values import Duration, MemorySize, SettingValue, Share, Table
from pgassay.spec.server.access import HostAccess
from pgassay.spec.server.fleet import FleetTable
from pgassay.spec.server.host_knobs import DottedNames, place_of_setting
from pgassay.spec.server.placement import PlacementTable
from pgassay.spec.server.reset import ResetLevel, ResetRule, ResetTable, rule_for
from pgassay.spec.server.signs import SIGNS, refuse_unknown_signs
from pgassay.spec.settings.catalogue import SettingNames
from pgassay.spec.stopping import StoppingKeys

_ACCEPTABLE = {"type": "array", "items": {"enum": list(SIGNS)}}


class TargetTable(HostAccess):
    """The `[target]` table: the PostgreSQL under test; left out, an embedded server."""

    version: EmbeddedVersion | None = Field(None, description="embedded server: major version")
    bin: str | None = Field(
        None,
        description="owned server: the bin directory of any installation; beside dsn the programs"
        " that run its copy (reset.level = snapshot)",
    )
    dsn: Annotated[str, BeforeValidator(without_password)] | None = Field(
        None, description="an existing server: a libpq connection string"
    )
    allow_changes: bool = Field(False, description="existing server: settings may be changed")
    allow_host_changes: bool = Field(False, description="knobs of this host may be changed")
    accept: Annotated[tuple[str, ...], Field(strict=False), WithJsonSchema(_ACCEPTABLE)] = Field(
        (), description="existing server: signs of production that may be there"
    )

    backup_rate: Annotated[MemorySize, Field(ge=32 * 1024, le=2**30)] | None = Field(
        None,
        description="existing server that is copied: the most that its base backup reads in a"
        " second, such as '50MB' (32kB to 1GB)",
    )
    backup_checkpoint: Literal["spread", "fast"] = Field(
        "spread",
        description="existing server that is copied: the checkpoint that its base backup begins"
        " with, spread over time as its own are, or as fast as its disk writes",
    )
    fleet: FleetTable | None = None

    @field_validator("accept")
    @classmethod
    def _known(cls, accept: tuple[str, ...]) -> tuple[str, ...]:
        refuse_unknown_signs(accept)
        return accept

    @model_validator(mode="after")
    def _one_of(self) -> TargetTable:
        given = [n for n in ("version", "bin", "dsn") if getattr(self, n) is not None]
        if len(given) > 1 and given != ["bin", "dsn"]:
            raise UnfitValue("exclude-each-other", given=" and ".join(given))
        if self.allow_changes and not self.is_existing:
            raise UnfitValue("not-without-server", key="allow_changes", wanted=self._lacks)
        if self.accept and not self.is_existing:
            raise UnfitValue("not-without-server", key="accept", wanted=self._lacks)
        return self

    @property
    def backup_options(self) -> tuple[str, ...]:
        """Returns pg_basebackup's options for how hard it may press the server."""
        rate = () if self.backup_rate is None else (f"--max-rate={self.backup_rate // 1024}k",)
        return (f"--checkpoint={self.backup_checkpoint}", *rate)

    @property
    def is_existing(self) -> bool:
        """Returns whether the target is a server that pgassay did not make, or a fleet of such."""
        return self.dsn is not None or bool(self.fleet is not None and self.fleet.servers)

    @property
    def _lacks(self) -> str:
        return "dsn too" if self.fleet is None else "fleet.servers too"


class WorkloadTable(Table):
    """The `[workload]` table: which workload runs, and the size of its data."""

    use: str = Field(
        "payments-write",
        description="required in a file: a ready workload, or a folder with workload.toml; for"
        " queries one with schema.sql and data.sql will do",
    )
    scale: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        1, description="size of the data; stands for `:scale` in SQL and scripts"
    )
    queries: str | None = Field(
        None,
        description="a query set: a folder of .sql files that are run instead of the scenarios; use"
        " then names the data, and is left out where they are on the server",
    )
    setup: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = Field(
        None,
        description="a program that makes or migrates the data, such as ['sh', 'migrate.sh']: it"
        " runs after schema.sql and before data.sql on a server of pgassay's own, which PGHOST,"
        " PGPORT, PGUSER and PGDATABASE name",
    )
    writes: str | None = Field(
        None,
        description="of a query set: a ready workload, or a folder with workload.toml, whose"
        " scenarios each trial runs after its queries",
    )


class SettingsTable(Table):
    """The `[settings]` table: settings of the server and knobs of its host that are the same in
    every arm."""

    @classmethod
    def place_of(cls, name: str, value: Any) -> str | None:
        """Returns the table of a setting or of a knob."""
        return place_of_setting(name)

    postgres: Annotated[dict[str, SettingValue], SettingNames] = Field(
        default_factory=dict, description="settings of the server, NAME = value"
    )
    host: Annotated[dict[str, SettingValue], DottedNames] = Field(
        default_factory=dict, description="knobs of the server's host, NAME = value"
    )


class SamplingTable(Table):
    """The `[sampling]` table: how often the server is sampled during a trial."""

    waits: Annotated[Duration, Field(ge=0.02, le=1.0)] = Field(
        0.1, description="interval between samples of wait events, 20ms to 1s"
    )
    plans: bool = Field(
        True, description="whether the plans of the scenarios' statements are read after each load"
    )


class DesignTable(StoppingKeys):
    """The `[design]` table: what is compared, in how many blocks, and when the run may end."""

    smallest_effect: Share = Field(
        0.02,
        description="the smallest relative difference that matters, such as '2%'; of a query"
        " set 10 % where it is left out",
    )
    metric: PrimaryMetric | None = Field(
        None,
        description="the primary endpoint, which verdicts are about; left out: response_mean with"
        " a rate, else tps",
    )
    endpoints: dict[str, Share | None] | None = Field(
        None,
        description="metrics with a verdict beside the primary one: mean, p50, p95, p99, tps,"
        " failures, wal, cpu, writes.tps; mean, p50, p95, p99 of a scenario (payment.p99); the mean"
        " of a statement by the line of its script (transfer:9.mean); with margins"
        " { p99 = '10%' }; left out: p99",
    )
    describes: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (),
        description="names of factors whose levels are described side by side and get no verdict,"
        " such as workload",
    )
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = Field(
        None, description="of the order of trials and of the load; drawn and stored if left out"
    )
    combinations: Literal["full", "fraction", "one-at-a-time"] = Field(
        "full",
        description="of several factors: all combinations of levels, a regular fraction of them,"
        " or the baseline and each single change of it",
    )
    resolution: Literal[3, 4, 5] = Field(
        4,
        description="least resolution of a fraction; from 4 on no main effect has an alias of two",
    )
    plots: Literal["auto", "split", "complete"] = Field(
        "auto",
        description="factors that take a restart change once per whole plot (split), or as"
        " often as all others (complete); auto: split where that saves restarts",
    )
    mode: Literal["auto", "blocks", "switchback", "duet"] = Field(
        "blocks",
        description="blocks: one arm per trial; switchback: all arms alternate in slices of every"
        " trial; duet: the same, with one server per arm; auto: the cheapest valid mode",
    )
    slice: Length = Field(
        1.0,
        description="switchback, duet: length of a slice; every second trial has half of it, and"
        " from the fifth trial on a switchback has longer ones",
    )

    @field_validator("endpoints", mode="before")
    @classmethod
    def _with_margins(cls, written: Any) -> Any:
        return as_margins(written)

    @model_validator(mode="after")
    def _ordered(self) -> DesignTable:
        checked_names(self.endpoints or {})
        if "resolution" in self.model_fields_set and self.combinations != "fraction":
            raise UnfitValue("resolution-without-fraction")
        if "slice" in self.model_fields_set and self.mode == "blocks":
            raise UnfitValue("slice-without-switchback")
        return self


MOST_ARMS = 256
DEFAULT_VERSION = 18
"""Major version of the embedded server where the file names none."""


class GuardTable(Table):
    """The `[guard]` table: limits at which a run ends in order because it would harm others who use
    the server."""

    replication_lag: Annotated[Duration, Field(gt=0)] | None = Field(
        None,
        description="the most that a standby may be behind in replay, or not connected, such as"
        " '30s'",
    )
    other_latency: Annotated[Duration, Field(gt=0)] | None = Field(
        None,
        description="the longest that a query of one row, in a session beside the load, may take"
        " three times in a row, a second apart, such as '50ms'",
    )
    free_disk: MemorySize | None = Field(
        None,
        description="the least free room of the disks of data directory and WAL, such as '20GB'",
    )

    def described(self) -> list[str]:
        """Returns a line for people for each limit that is set."""
        lag_s, latency_s, free = self.replication_lag, self.other_latency, self.free_disk
        lines = [
            lag_s
            and f"replication_lag = {lag_s:g} s: a standby that is further behind, or not"
            " connected for longer, ends the run",
            latency_s
            and f"other_latency = {1e3 * latency_s:g} ms: three slower answers in a row"
            " to a query of one row end the run",
            free
            and f"free_disk = {free / 2**30:.3g} GB: less free room on the server's disks"
            " ends the run",
        ]
        return [line for line in lines if isinstance(line, str)]


class ProfileTable(Table):
    """The `[profile]` table: after the last block each arm runs once more under perf, and nothing
    of that is measured."""

    seconds: Annotated[Duration, Field(ge=1, le=600)] = Field(
        20.0, description="how long, 1s to 10min; at most the measured part of a trial"
    )
    hz: Annotated[int, Field(ge=1, le=2000)] = Field(
        99, description="samples per second of CPU time"
    )
    off_cpu: bool = Field(
        False, description="also where sessions wait, in a second profile of the same length"
    )


_OF_A_QUERY = 0.1
"""The smallest difference that matters of a query, unless the file says otherwise."""


def as_design_of_queries(design: DesignTable) -> DesignTable:
    """Returns the table with the usual margin of a set of queries, where it names none."""
    if "smallest_effect" in design.model_fields_set:
        return design
    return design.model_copy(update={"smallest_effect": _OF_A_QUERY})


class ExperimentFile(Table):
    """An experiment file as values: one field for each table, each checked alone and against the
    others."""

    @classmethod
    def place_of(cls, name: str, value: Any) -> str | None:
        """Returns the table of a setting or of a knob: of one with several values the factors."""
        place = place_of_setting(name)
        return place and f"{'factors' if isinstance(value, list) else 'settings'}.{place}"

    question: str = Field("", description="the question that the run answers, for reports")
    target: TargetTable = Field(default_factory=TargetTable)
    workload: WorkloadTable = Field(default_factory=WorkloadTable)
    factors: FactorsTable = Field(default_factory=FactorsTable)
    settings: SettingsTable = Field(default_factory=SettingsTable)
    load: LoadTable = Field(default_factory=LoadTable)
    placement: PlacementTable = Field(default_factory=PlacementTable)
    sampling: SamplingTable = Field(default_factory=SamplingTable)
    reset: ResetTable = Field(default_factory=ResetTable)
    guard: GuardTable | None = None
    profile: ProfileTable | None = None
    design: DesignTable = Field(default_factory=DesignTable)

    @model_validator(mode="after")
    def _has_a_reset(self) -> ExperimentFile:
        self.reset_rule()  # raises ValueError where the server cannot follow the table
        return self

    @property
    def varies_copies(self) -> bool:
        """Whether the levels of a factor are versions or builds of copies of the server in
        `dsn`."""
        return self.target.dsn is not None and bool(self.factors.target.servers())

    @property
    def copies_existing(self) -> bool:
        """Whether trials run on an owned server made from a base backup of the one in `dsn`."""
        snapshot = self.reset.level is ResetLevel.SNAPSHOT
        return self.varies_copies or (self.target.is_existing and snapshot)

    @property
    def loads_existing(self) -> bool:
        """Whether trials run on the server in `dsn` itself."""
        return self.target.is_existing and not self.copies_existing

    @property
    def metric(self) -> PrimaryMetric:
        """The primary endpoint: `design.metric`, or the usual one of this load."""
        if self.design.metric is not None:
            return self.design.metric
        return usual_metric(self.load) if self.workload.queries is None else OF_QUERIES

    @property
    def runs_scripts(self) -> bool:
        """Whether the load is the workload's scenarios, run by the engine."""
        return self.load.runs_scripts and self.workload.queries is None

    @property
    def majors(self) -> tuple[int | None, ...]:
        """The major versions under test; None for a server whose version is not in the file."""
        levels = self.factors.target
        if levels.version is not None or levels.bin is not None:
            servers = [*(levels.version or {}).values(), *(levels.bin or {}).values()]
            return tuple(dict.fromkeys(s if isinstance(s, int) else None for s in servers))
        if self.target.is_existing or self.target.bin is not None:
            return (None,)
        return (self.target.version or DEFAULT_VERSION,)

    @property
    def controlled(self) -> set[str]:
        """The settings of the server and of the load's sessions that are varied or held."""
        factors = self.factors
        of_sessions = {*self.load.settings, *(factors.client.settings or {})}
        return {*self.settings.postgres, *factors.postgres, *of_sessions}

    def reset_rule(self) -> ResetRule:
        """Returns what the reset before every trial does: as the table says, or by default for this
        kind of server."""
        table = self.reset
        if self.varies_copies:
            if table.level not in (None, ResetLevel.SNAPSHOT):
                raise UnfitValue("reset-of-varied-copies", level=table.level.value)
            table = table.model_copy(update={"level": ResetLevel.SNAPSHOT})
        return rule_for(
            table, existing=self.target.is_existing, may_change=self.target.allow_changes
        )
