"""The `[load]` table: clients or rate, steps, and the engine's options or another program.

Enters: the table tomllib made. Leaves: a frozen `LoadTable`, or pydantic's ValidationError.
Never: orders steps or starts a program.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.load.amounts import Stage, ThinkTime, amounts, is_stages, stages
from pgassay.spec.load.amounts import think_time as _think_time
from pgassay.spec.load.slices import SlicesTable
from pgassay.spec.reading.values import ClusterOrLocal, Duration, SettingValue, Table, busy_poll_s
from pgassay.spec.settings.catalogue import SettingNames, is_known


class GeneratorsTable(Table):
    """The `[load.generators]` table: load generators on nodes of a Ray cluster; left out, the load
    comes from this machine."""

    ray: ClusterOrLocal = Field(
        "auto",
        description="the cluster: auto (this machine is a node of it), HOST:PORT, or local (a"
        " cluster of this machine alone)",
    )
    count: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        None, description="number of generators, one a node; left out, every node that fits"
    )
    resource: str | None = Field(
        None,
        description="custom resource of Ray's that the nodes meant for load have, so that the"
        " server's own machine gets none",
    )
    lost: Literal["stop", "continue"] = Field(
        "stop",
        description="when a generator is lost: stop the run, or run the trial again with those"
        " that remain",
    )

    @property
    def described(self) -> str:
        """Returns a line for people that says where the load comes from."""
        count = "every node" if self.count is None else f"{self.count} nodes"
        meant = f" with the resource {self.resource}" if self.resource else ""
        return f"from {count} of the Ray cluster at {self.ray}{meant}"


Clients = Annotated[int, Field(ge=1, le=100_000)]
Rate = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False, strict=False)]

ENGINE_KEYS = (
    "threads",
    "protocol",
    "arrivals",
    "latency_limit",
    "pools",
    "think_time",
    "max_tries",
    "reconnect",
    "interval",
    "transport",
    "busy_poll",
    "allow_shell",
    "slices",
    "generators",
)
"""Options of pgassay's engine; a program in `command` has its own."""
COMMAND_KEYS = ("warmup_command", "throughput", "latency", "time_limit")
QUERY_KEYS = frozenset({"repeats", "timeout", "caches", "clients", "settings", "sslmode"})
"""Keys that a query set has; the first three are of it alone."""
WRITES_KEYS = frozenset({"step", "warmup", "threads", "protocol", "max_tries"})
"""Keys that a query set has of the writes after it."""
OF_QUERIES_ALONE = ("repeats", "timeout", "caches")
REPLAY_KEYS = frozenset(
    {"replay", "speed", "settings", "sslmode", "interval", "busy_poll", "time_limit"}
)
"""Keys that a replay has; its trace says all else."""


def _speed(value: Any) -> Any:
    if value == "max":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 100:
        raise UnfitValue("speed-form")
    return float(value)


def _clients(value: Any) -> Any:
    if isinstance(value, str):
        if is_stages(value):
            raise UnfitValue("stages-as-clients")
        return amounts(value, whole=True)
    return value if isinstance(value, list) else [value]


def _rates(value: Any) -> Any:
    if isinstance(value, str):
        return amounts(value, whole=False)
    return value if isinstance(value, list) else [value]


def _stages(value: Any) -> Any:
    if not isinstance(value, str):
        raise UnfitValue("stages-form")
    return stages(value)


def _some_warmup(value: Any) -> Any:
    if re.fullmatch(r"\s*0*\.?0*\s*[a-z]*\s*", str(value)) and "0" in str(value):
        raise UnfitValue("warmup-of-nothing")
    return value


def _pattern(value: Any) -> Any:
    if isinstance(value, str):
        try:
            groups = re.compile(value).groups
        except re.error as error:
            raise UnfitValue("not-a-pattern", value=value, error=error) from None
        if groups != 1:
            raise UnfitValue("pattern-without-group")
    return value


def _several(kind: str) -> WithJsonSchema:
    return WithJsonSchema(
        {"anyOf": [{"type": kind}, {"type": "array", "items": {"type": kind}}, {"type": "string"}]}
    )


class ThroughputTable(Table):
    """The `[load.throughput]` table: where the program in `command` prints its transactions per
    second."""

    json_: str | None = Field(
        None, alias="json", description="path in a JSON document, such as 'metrics.rate'"
    )
    pattern: Annotated[str, BeforeValidator(_pattern)] | None = Field(
        None, description="regular expression with one group; the last match counts"
    )
    file: str | None = Field(None, description="file to read; left out, the program's stdout")

    @model_validator(mode="after")
    def _one_of(self) -> ThroughputTable:
        if (self.json_ is None) == (self.pattern is None):
            raise UnfitValue("json-or-pattern")
        return self


class LatencyTable(Table):
    """The `[load.latency]` table: which log of the program in `command` has its latencies."""

    pgbench_log: str | None = Field(None, description="prefix, as given to pgbench --log-prefix")
    hdr_log: str | None = Field(None, description="an HdrHistogram interval log (V2)")
    unit: Literal["ns", "us", "ms", "s"] | None = Field(None, description="of hdr_log's values")

    @model_validator(mode="after")
    def _one_of(self) -> LatencyTable:
        if (self.pgbench_log is None) == (self.hdr_log is None):
            raise UnfitValue("pgbench-log-or-hdr-log")
        if (self.hdr_log is None) != (self.unit is None):
            raise UnfitValue("unit-without-hdr-log")
        return self


class LoadTable(Table):
    """The `[load]` table: the load of every trial, from pgassay's engine or from a program of the
    user's."""

    @classmethod
    def place_of(cls, name: str, value: Any) -> str | None:
        """Returns the table of a setting of the load's sessions."""
        return "settings" if is_known(name.lower(), None) else None

    clients: Annotated[
        tuple[Clients, ...],
        BeforeValidator(_clients),
        Field(strict=False, min_length=1),
        _several("integer"),
    ] = Field((8,), description="connections; several make steps: [5, 8] or '5..22 log 6'")
    step: Duration = Field(60.0, description="length of each measured step")
    stages: (
        Annotated[tuple[Stage, ...], BeforeValidator(_stages), WithJsonSchema({"type": "string"})]
        | None
    ) = Field(None, description="steps with their own times, TIME:CLIENTS, such as '30s:10,2m:50'")
    order: Literal["ordered", "shuffled"] = Field(
        "ordered", description="order of the steps; shuffled draws a new one for every block"
    )
    warmup: Annotated[Duration, BeforeValidator(_some_warmup)] = Field(
        10.0,
        description="time of load before the first step, not measured; left out, the workload's own"
        " if it has one",
    )
    rate: (
        Annotated[
            tuple[Rate, ...],
            BeforeValidator(_rates),
            Field(strict=False, min_length=1),
            _several("number"),
        ]
        | None
    ) = Field(None, description="transactions to start per second; several values make steps")
    arrivals: Literal["poisson", "constant"] = Field(
        "poisson", description="distribution of the starts of a rate"
    )
    latency_limit: Duration | None = Field(
        None,
        description="a longer transaction counts as late; with a rate, one that cannot be in time"
        " is skipped",
    )
    threads: Annotated[int, Field(ge=1, le=1024)] = Field(1, description="engine threads")
    protocol: Literal["prepared", "extended", "simple"] = Field(
        "prepared", description="protocol of the statements"
    )
    pools: Literal["shared", "per_scenario"] = Field(
        "shared", description="connections run every scenario, or each scenario has its own"
    )
    think_time: (
        Annotated[
            ThinkTime, BeforeValidator(_think_time), WithJsonSchema({"type": ["string", "number"]})
        ]
        | None
    ) = Field(None, description="pause between a client's transactions: '10ms' or '10ms:exp'")
    max_tries: Annotated[int, Field(ge=0, le=2**31 - 1)] = Field(
        1, description="tries of a transaction that fails to serialize or deadlocks; 0: no limit"
    )
    reconnect: Literal["never", "on_loss", "each_transaction"] = Field(
        "never", description="when a new connection is opened"
    )
    settings: Annotated[dict[str, SettingValue], SettingNames] = Field(
        default_factory=dict, description="settings of the load's sessions, NAME = value"
    )
    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] | None = (
        Field(None, description="of the load's connections; left out, as in target.dsn")
    )
    slices: SlicesTable | None = Field(None, description="variants that alternate within a step")
    interval: Annotated[Duration, Field(ge=0.1, le=3600.0)] = Field(
        1.0, description="interval of the stored time series"
    )
    transport: Literal["auto", "io_uring", "epoll"] = Field(
        "auto", description="interface to the kernel"
    )
    busy_poll: (
        Annotated[
            float,
            BeforeValidator(busy_poll_s),
            WithJsonSchema({"type": ["string", "number"], "description": "'50us' or 'off'"}),
        ]
        | None
    ) = Field(None, description="how long a thread polls for answers before it sleeps")
    allow_shell: bool = Field(
        False, description="scripts may run programs by \\shell and \\setshell"
    )
    generators: GeneratorsTable | None = Field(
        None, description="load generators on several machines; left out, this machine is the one"
    )
    replay: str | None = Field(
        None,
        description="a trace to replay instead of the workload's scripts, drawn from a server's"
        " log",
    )
    speed: Annotated[
        float | None,
        BeforeValidator(_speed),
        WithJsonSchema({"type": ["number", "string"], "description": "0.1 to 100, or 'max'"}),
    ] = Field(
        1.0, description="of a replay: 0.1 to 100 times that of the source, or max: no pauses"
    )
    repeats: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None,
        description="of a query set: executions of each query in a trial that count; left out, as"
        " many as the times of a first trial ask for",
    )
    timeout: Annotated[Duration, Field(ge=0.001, le=86_400)] = Field(
        60.0, description="of a query set: time after which an execution is ended, and has failed"
    )
    caches: Literal["warm", "cold"] = Field(
        "warm",
        description="of a query set: warm runs each query once before those that count; cold, with"
        " reset.caches = cold, counts the first alone",
    )
    command: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="another program as the load, with its arguments"
    )
    warmup_command: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="program that warms up before command, not measured"
    )
    throughput: ThroughputTable | None = Field(
        None, description="where command prints its rate; left out, commits of the server count"
    )
    latency: LatencyTable | None = Field(
        None, description="where command writes its latencies; left out, there are none"
    )
    time_limit: Duration = Field(
        3600.0,
        description="time after which command is stopped, or a replay is that has not ended so long"
        " after its planned end",
    )

    @property
    def is_open(self) -> bool:
        """Whether the engine starts transactions at a rate, and so measures response times."""
        return self.rate is not None and self.command is None

    @property
    def runs_scripts(self) -> bool:
        """Whether the load is the workload's scripts, run by the engine."""
        return self.command is None and self.replay is None

    @property
    def varies(self) -> Literal["clients", "rate"]:
        """The key that differs between the steps of a trial: clients or rate."""
        return "rate" if self.rate is not None and len(self.rate) > 1 else "clients"

    @model_validator(mode="after")
    def _fits_together(self) -> LoadTable:
        given = self.model_fields_set
        if self.replay is not None:
            for key in sorted(given - REPLAY_KEYS):
                raise UnfitValue("not-with-replay", key=key)
            return self
        if "speed" in given:
            raise UnfitValue("speed-without-replay")
        if self.stages is not None:
            for other in ("clients", "step"):
                if other in given:
                    raise UnfitValue("beside-stages", key=other)
        if self.varies == "rate" and (len(self.clients) > 1 or self.stages is not None):
            raise UnfitValue("clients-and-rate-vary")
        levels = self._levels()
        if self.stages is None and len(set(levels)) < len(levels):
            raise UnfitValue("steps-repeated")
        if self.rate is None and "arrivals" in given:
            raise UnfitValue("arrivals-without-rate")
        if self.slices is not None and self.command is None:
            self._check_slices(self.slices)
        if self.command is None:
            for key in COMMAND_KEYS:
                if key in given:
                    raise UnfitValue("not-without-command", key=key)
        else:
            self._check_command(given)
        return self

    def _levels(self) -> list[float]:
        if self.stages is not None:
            return [stage.amount for stage in self.stages]
        return list(self.rate or ()) if self.varies == "rate" else list(self.clients)

    def _check_slices(self, slices: SlicesTable) -> None:
        lengths = [stage.duration_s for stage in self.stages or ()] or [self.step]
        if slices.round_s > min(lengths):
            raise UnfitValue(
                "round-longer-than-step", round_s=slices.round_s, shortest=min(lengths)
            )

    def _check_command(self, given: set[str]) -> None:
        for key in ENGINE_KEYS:
            if key in given:
                raise UnfitValue("not-with-command", key=key)
        if "warmup" in given and self.warmup_command is None:
            raise UnfitValue("warmup-of-a-command")
