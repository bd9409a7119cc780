"""The `[factors]` tables: everything that can be varied, kind by kind.

Enters: the tables tomllib made. Leaves: a frozen `FactorsTable`, or pydantic's ValidationError;
`every` lists its factors. Never: reads the files that levels name (variants.py does), or knows
whether levels of two factors go together (arms.py does).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pgassay.spec.host_knobs import DottedNames
from pgassay.spec.level_names import file_names, named_levels, plain_names
from pgassay.spec.setting_names import SettingNames
from pgassay.spec.values import SettingValue, Table

EMBEDDED = (16, 18)
"""Major versions that come with pgassay."""
STEPS = ("clients", "rate", "stages", "step", "warmup", "order")
CLIENT_KEYS = (
    "arrivals", "busy_poll", "max_tries", "pools", "protocol", "reconnect", "sslmode",
    "think_time", "threads", "transport",
)  # fmt: skip
"""Keys of `[load]` that can be levels."""

_LIST = {"type": "array", "minItems": 2}
_LIST_OR_TABLE = {"anyOf": [_LIST, {"type": "object", "minProperties": 2}]}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        raise ValueError("write a list of levels")
    return named_levels(value, plain_names)


def _files(value: Any) -> Any:
    return named_levels(value, file_names)


def _numbers(value: Any) -> Any:
    return named_levels(value, plain_names)


Levels = Annotated[tuple[SettingValue, ...], Field(strict=False)]
PlainLevels = Annotated[dict[str, Any], BeforeValidator(_plain), WithJsonSchema(_LIST)]
FileLevels = Annotated[dict[str, str], BeforeValidator(_files), WithJsonSchema(_LIST_OR_TABLE)]


class TargetFactors(Table):
    """Servers of pgassay's own, each with a data directory of its own."""

    version: (
        Annotated[
            dict[str, Literal[16, 18]], BeforeValidator(_plain), WithJsonSchema({
                "type": "array", "items": {"enum": list(EMBEDDED)}, "minItems": 2,
            }),
        ]
        | None
    ) = Field(None, description="embedded servers, by major version")  # fmt: skip
    bin: (
        Annotated[
            dict[str, str | Literal[16, 18]],
            BeforeValidator(_files),
            WithJsonSchema(_LIST_OR_TABLE),
        ]
        | None
    ) = Field(None, description="bin directories, or 16 and 18 for the embedded servers")

    @model_validator(mode="after")
    def _one_of(self) -> TargetFactors:
        if self.version is not None and self.bin is not None:
            raise ValueError(
                "version and bin are levels of one factor; in bin, 16 and 18 stand for the"
                " embedded servers"
            )
        return self

    def servers(self) -> dict[str, str | int]:
        """Name of the level → bin directory or embedded version; empty where none are varied."""
        return {**(self.version or {}), **(self.bin or {})}


class WorkloadFactors(Table):
    """Workloads, or sizes of one."""

    use: FileLevels | None = Field(None, description="ready workloads or folders")
    scale: (
        Annotated[
            dict[str, Annotated[int, Field(ge=1, le=1_000_000)]],
            BeforeValidator(_numbers),
            WithJsonSchema(_LIST_OR_TABLE),
        ]
        | None
    ) = Field(None, description="sizes of the data")


class ClientFactors(Table):
    """What the load side sets: keys of `[load]`, checked as they are there."""

    protocol: PlainLevels | None = None
    threads: PlainLevels | None = None
    pools: PlainLevels | None = None
    think_time: PlainLevels | None = Field(None, description="0 is none")
    max_tries: PlainLevels | None = None
    reconnect: PlainLevels | None = None
    arrivals: PlainLevels | None = None
    transport: PlainLevels | None = None
    busy_poll: PlainLevels | None = None
    sslmode: PlainLevels | None = None
    settings: Annotated[dict[str, Levels], SettingNames] = Field(
        default_factory=dict, description="settings that each session of the load begins with"
    )

    @model_validator(mode="before")
    @classmethod
    def _no_steps(cls, table: Any) -> Any:
        for key in STEPS if isinstance(table, dict) else ():
            if key in table:
                raise ValueError(
                    f"{key} shapes the steps of every trial and is no factor; write it in [load]:"
                    " several values make steps, and each step is compared with itself"
                )
        return table


class SchemaLevel(Table):
    """SQL that makes one variant of the schema, and on an existing server what takes it back."""

    sql: str = Field("", description="statements, or the name of a .sql file")
    undo: str | None = Field(None, description="needed on an existing server")


def _schema_level(value: Any) -> Any:
    return {"sql": value} if isinstance(value, str) else value


SchemaLevels = Annotated[
    dict[str, Annotated[SchemaLevel, BeforeValidator(_schema_level)]],
    BeforeValidator(_files),
    WithJsonSchema(_LIST_OR_TABLE),
]
WeightLevels = Annotated[
    dict[str, Annotated[float, Field(strict=False)]],
    BeforeValidator(_numbers),
    WithJsonSchema(_LIST_OR_TABLE),
]


class FactorsTable(Table):
    """What is varied: every key a factor, its values the levels, the first the baseline."""

    target: TargetFactors = Field(default_factory=TargetFactors)
    workload: WorkloadFactors = Field(default_factory=WorkloadFactors)
    schema_: dict[str, SchemaLevels] = Field(
        default_factory=dict, alias="schema", description="SQL that changes the built data"
    )
    scenarios: dict[str, FileLevels] = Field(
        default_factory=dict, description="scripts of a scenario of the workload"
    )
    weights: dict[str, WeightLevels] = Field(
        default_factory=dict, description="weights of a scenario of the workload"
    )
    client: ClientFactors = Field(default_factory=ClientFactors)
    postgres: Annotated[dict[str, Levels], SettingNames] = Field(default_factory=dict)
    host: Annotated[dict[str, Levels], DottedNames] = Field(
        default_factory=dict, description="knobs of the server's host: sysctl, block queue"
    )

    def every(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """(kind, name, names of the levels) of each factor; the kind is the table it stands in."""
        return [(kind, name, tuple(levels)) for _, kind, name, levels in self._all()]

    def in_the_file(self) -> list[tuple[str, str]]:
        """(key in the file, name) of each factor."""
        return [(key, name) for key, _, name, _ in self._all()]

    def _all(self) -> list[tuple[str, str, str, Any]]:
        target, workload, client = self.target, self.workload, self.client
        found: list[tuple[str, str, str, Any]] = [
            ("factors.target.version", "target", VERSION, target.version),
            ("factors.target.bin", "target", BUILD, target.bin),
            ("factors.workload.use", "workload", WORKLOAD, workload.use),
            ("factors.workload.scale", "workload", SCALE, workload.scale),
        ]
        for kind, table in (
            ("schema", self.schema_), ("scenarios", self.scenarios), ("weights", self.weights),
        ):  # fmt: skip
            for name, levels in table.items():
                shown = weight_of(name) if kind == "weights" else name
                found.append((f"factors.{kind}.{name}", kind, shown, levels))
        found += [
            (f"factors.client.{name}", "client", name, getattr(client, name))
            for name in CLIENT_KEYS
        ]
        for kind, settings in (
            ("client.settings", client.settings),
            ("postgres", self.postgres),
            ("host", self.host),
        ):
            found += [
                (f"factors.{kind}.{name}", kind, name, values) for name, values in settings.items()
            ]
        return [entry for entry in found if entry[3] is not None]


VERSION, BUILD = "version", "build"
WORKLOAD, SCALE = "workload", "scale"


def weight_of(scenario: str) -> str:
    """The factor's name where a scenario's weight is varied: its script may be another factor."""
    return f"weight of {scenario}"
