"""The `[load]` table: how hard, how long, and by which engine or program.

Enters: the table tomllib made. Leaves: a frozen `LoadTable`, or pydantic's ValidationError.
Never: orders steps or starts a program.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pgassay.spec.amounts import STAGE_FORM, Stage, amounts, is_stages, stages
from pgassay.spec.setting_names import SettingNames
from pgassay.spec.slices import SlicesTable
from pgassay.spec.think_time import ThinkTime, think_time
from pgassay.spec.values import Duration, SettingValue, Table, busy_poll_s

Clients = Annotated[int, Field(ge=1, le=100_000)]
Rate = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False, strict=False)]

ENGINE_KEYS = (
    "threads", "protocol", "arrivals", "latency_limit", "pools", "think_time", "max_tries",
    "reconnect", "interval", "transport", "busy_poll", "allow_shell", "slices",
)  # fmt: skip
"""What only pgassay's own engine understands; a program of the user's decides these itself."""
COMMAND_KEYS = ("warmup_command", "throughput", "latency", "time_limit")


def _clients(value: Any) -> Any:
    if isinstance(value, str):
        if is_stages(value):
            raise ValueError("stages with their times are written in load.stages")
        return amounts(value, whole=True)
    return value if isinstance(value, list) else [value]


def _rates(value: Any) -> Any:
    if isinstance(value, str):
        return amounts(value, whole=False)
    return value if isinstance(value, list) else [value]


def _stages(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(STAGE_FORM)
    return stages(value)


def _think_time(value: Any) -> ThinkTime:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("write a think time such as '10ms' or '10ms:exp'")
    return think_time(value)


def _pattern(value: Any) -> Any:
    if isinstance(value, str):
        try:
            groups = re.compile(value).groups
        except re.error as error:
            raise ValueError(f"{value!r} is not a regular expression: {error}") from None
        if groups != 1:
            raise ValueError("the pattern needs one group in brackets, the number")
    return value


def _several(kind: str) -> WithJsonSchema:
    return WithJsonSchema(
        {"anyOf": [{"type": kind}, {"type": "array", "items": {"type": kind}}, {"type": "string"}]}
    )


class ThroughputTable(Table):
    """Where a program's own figure of transactions per second stands in its output."""

    json_: str | None = Field(None, alias="json", description="path such as 'metrics.rate'")
    pattern: Annotated[str, BeforeValidator(_pattern)] | None = Field(
        None, description="regular expression with one group; the last match counts"
    )
    file: str | None = Field(None, description="read from there; left out, the program's stdout")

    @model_validator(mode="after")
    def _one_of(self) -> ThroughputTable:
        if (self.json_ is None) == (self.pattern is None):
            raise ValueError("give one of json and pattern")
        return self


class LatencyTable(Table):
    """Which log of a program's holds its latencies."""

    pgbench_log: str | None = Field(None, description="prefix, as given to pgbench --log-prefix")
    hdr_log: str | None = Field(None, description="an HdrHistogram interval log (V2)")
    unit: Literal["ns", "us", "ms", "s"] | None = Field(None, description="of hdr_log's values")

    @model_validator(mode="after")
    def _one_of(self) -> LatencyTable:
        if (self.pgbench_log is None) == (self.hdr_log is None):
            raise ValueError("give one of pgbench_log and hdr_log")
        if (self.hdr_log is None) != (self.unit is None):
            raise ValueError("unit (ns, us, ms or s) goes with hdr_log, which does not say it")
        return self


class LoadTable(Table):
    """How hard, and for how long."""

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
    ) = Field(None, description="steps with a time each, such as '30s:10,2m:50'")
    order: Literal["ordered", "shuffled"] = Field(
        "ordered", description="of the steps; shuffled draws one order per block"
    )
    warmup: Duration = Field(10.0, description="load before the first step, not measured")
    rate: (
        Annotated[
            tuple[Rate, ...],
            BeforeValidator(_rates),
            Field(strict=False, min_length=1),
            _several("number"),
        ]
        | None
    ) = Field(None, description="transactions a second to start; several make steps")
    arrivals: Literal["poisson", "constant"] = Field("poisson", description="of a rate")
    latency_limit: Duration | None = Field(
        None, description="a later transaction is late; with a rate, hopeless ones are skipped"
    )
    threads: Annotated[int, Field(ge=1, le=1024)] = Field(1, description="engine threads")
    protocol: Literal["prepared", "extended", "simple"] = "prepared"
    pools: Literal["shared", "per_scenario"] = Field(
        "shared", description="connections serve every scenario, or each its own"
    )
    think_time: (
        Annotated[
            ThinkTime,
            BeforeValidator(_think_time),
            WithJsonSchema({"type": ["string", "number"]}),
        ]
        | None
    ) = Field(None, description="pause between a client's transactions: '10ms' or '10ms:exp'")
    max_tries: Annotated[int, Field(ge=0, le=2**31 - 1)] = Field(
        1, description="of a transaction that failed to serialize or deadlocked; 0 is no limit"
    )
    reconnect: Literal["never", "on_loss", "each_transaction"] = "never"
    settings: Annotated[dict[str, SettingValue], SettingNames] = Field(
        default_factory=dict, description="that each session of the load begins with"
    )
    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] | None = (
        Field(None, description="of the load's connections; left out, the server's own")
    )
    slices: SlicesTable | None = Field(None, description="variants that alternate inside a step")
    interval: Annotated[Duration, Field(ge=0.1, le=3600.0)] = Field(
        1.0, description="of the stored series"
    )
    transport: Literal["auto", "io_uring", "epoll"] = Field("auto", description="system interface")
    busy_poll: (
        Annotated[
            float,
            BeforeValidator(busy_poll_s),
            WithJsonSchema({"type": ["string", "number"], "description": "'50us' or 'off'"}),
        ]
        | None
    ) = Field(None, description="a wait looks for answers so long before it sleeps")
    allow_shell: bool = Field(False, description="scripts may run programs by \\shell")
    command: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="a program of your own as the load, with its arguments"
    )
    warmup_command: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = Field(
        None, description="run before the command, not measured"
    )
    throughput: ThroughputTable | None = Field(
        None, description="of a command; left out, the server's own commits"
    )
    latency: LatencyTable | None = Field(None, description="of a command; left out, none")
    time_limit: Duration = Field(3600.0, description="after which a command is stopped")

    @property
    def varies(self) -> Literal["clients", "rate"]:
        """What tells the steps apart."""
        return "rate" if self.rate is not None and len(self.rate) > 1 else "clients"

    @model_validator(mode="after")
    def _fits_together(self) -> LoadTable:
        given = self.model_fields_set
        if self.stages is not None:
            for other in ("clients", "step"):
                if other in given:
                    raise ValueError(f"stages name their own clients and times; drop {other}")
        if self.varies == "rate" and (len(self.clients) > 1 or self.stages is not None):
            raise ValueError("either clients or rate may have several values; keep one as a number")
        levels = self._levels()
        if self.stages is None and len(set(levels)) < len(levels):
            raise ValueError("two steps are at the same level and could not be told apart")
        if self.rate is None and "arrivals" in given:
            raise ValueError("arrivals belongs to a rate; give rate too")
        if self.slices is not None and self.command is None:
            self._check_slices(self.slices)
        if self.command is None:
            for key in COMMAND_KEYS:
                if key in given:
                    raise ValueError(f"{key} belongs to a command; give command too")
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
            raise ValueError(
                f"one round of the slices takes {slices.round_s:g} s and a step {min(lengths):g} s;"
                " make slices shorter or steps longer, so that each step has every variant"
            )

    def _check_command(self, given: set[str]) -> None:
        for key in ENGINE_KEYS:
            if key in given:
                raise ValueError(
                    f"{key} is the engine's and a command decides it itself; drop one of the two"
                )
        if "warmup" in given and self.warmup_command is None:
            raise ValueError("a command warms up by itself or by warmup_command; drop warmup")
