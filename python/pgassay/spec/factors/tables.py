"""The `[factors]` tables: how each kind of factor is written, and how its levels are named.

Enters: the tables tomllib made. Leaves: a frozen `FactorsTable`, or pydantic's ValidationError.
Short and distinct names on one line each are made for levels that are files, numbers or SQL.
Never: reads the files that levels name (variants.py does), or checks levels against other tables
(`spec/refusals` does).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.factors.sql_words import starts_as_sql
from pgassay.spec.reading.values import SettingValue, Table
from pgassay.spec.server.host_knobs import DottedNames, place_of_setting
from pgassay.spec.settings.catalogue import SettingNames

LONGEST = 60
UNCHANGED = "unchanged"
"""The name of the level "": the workload's own script, or the schema as built."""
_FORMERLY = "as it is"
"""What stored runs of earlier versions call it."""


def named_levels(value: Any, names_of: Callable[[Sequence[Any]], Sequence[str]]) -> dict[str, Any]:
    """Returns the levels of a factor by name: the names of a table, or those that `names_of` makes
    for a list."""
    if isinstance(value, Mapping):
        levels = dict(value)
    elif isinstance(value, list | tuple):
        levels = _distinct(names_of(value), value)
    else:
        raise UnfitValue("levels-not-a-list-or-table")
    if len(levels) < 2:
        raise UnfitValue("too-few-levels")
    for name in levels:
        if not name.strip() or not name.isprintable() or len(name) > LONGEST:
            raise UnfitValue("level-without-name", name=name, most=LONGEST)
    return levels


def plain_names(values: Sequence[Any]) -> list[str]:
    """Names levels that are numbers, words or booleans by their text in the file."""
    return [_word(value) for value in values]


def file_names(values: Sequence[Any]) -> list[str]:
    """Names paths by the shortest ending that differs, without `/bin` or `.sql`; a version N is
    named `embedded N`."""
    paths = [_parts(value) for value in values]
    return [_ending(own, [other for other in paths if other != own]) for own in paths]


def _parts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, str):
        return (f"embedded {_word(value)}",)
    if not value.strip():
        return (UNCHANGED,)
    parts = PurePosixPath(value.strip().removesuffix(".sql")).parts
    return parts[:-1] if len(parts) > 1 and parts[-1] == "bin" else parts


def _ending(own: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> str:
    for length in range(1, len(own) + 1):
        end = own[-length:]
        if all(other[-length:] != end for other in others):
            return "/".join(end)
    return "/".join(own)


def _distinct(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        if name in found and found[name] == value:
            raise UnfitValue("equal-level-twice", name=name)
        if name in found:
            raise UnfitValue("levels-called-alike", name=name)
        found[name] = value
    return found


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


EMBEDDED = (16, 18)
"""Major versions that come with pgassay."""


def _embedded(version: Any) -> Any:
    if isinstance(version, int) and version not in EMBEDDED:
        raise UnfitValue("version-not-embedded", major=version)
    return version


EmbeddedVersion = Annotated[Literal[16, 18], BeforeValidator(_embedded)]
MajorVersion = Annotated[int, Field(ge=13, le=99)]
"""Of any server, where the user's own is copied."""
Way = Literal["pg_upgrade", "dump"]
"""How a copy of the user's server comes to another major version."""
_STEPS = ("clients", "rate", "stages", "step", "warmup", "order")
"""Keys of `[load]` that shape the steps of every trial and so cannot be factors."""

_LIST = {"type": "array", "minItems": 2}
_LIST_OR_TABLE = {"anyOf": [_LIST, {"type": "object", "minProperties": 2}]}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        raise UnfitValue("levels-not-a-list")
    return named_levels(value, plain_names)


def _several(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise UnfitValue("levels-not-a-list")
    return value


_FILES = BeforeValidator(partial(named_levels, names_of=file_names))
_NUMBERS = BeforeValidator(partial(named_levels, names_of=plain_names))
Levels = Annotated[tuple[SettingValue, ...], BeforeValidator(_several), Field(strict=False)]
PlainLevels = Annotated[dict[str, Any], BeforeValidator(_plain), WithJsonSchema(_LIST)]
FileLevels = Annotated[dict[str, str], _FILES, WithJsonSchema(_LIST_OR_TABLE)]


class TargetFactors(Table):
    """The `[factors.target]` table: versions or builds of PostgreSQL, one server for each level,
    all started by pgassay."""

    version: (
        Annotated[
            dict[str, MajorVersion],
            BeforeValidator(_plain),
            WithJsonSchema({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
        ]
        | None
    ) = Field(
        None,
        description="major versions of the embedded server; beside target.dsn of copies of that"
        " server",
    )
    bin: (
        Annotated[dict[str, str | EmbeddedVersion], _FILES, WithJsonSchema(_LIST_OR_TABLE)] | None
    ) = Field(None, description="bin directories, or 16 and 18 for the embedded servers")
    how: Way = Field(
        "pg_upgrade",
        description="beside target.dsn: how a copy comes to a newer version: by pg_upgrade, or all"
        " levels by dump and restore (dump)",
    )

    @model_validator(mode="after")
    def _one_of(self) -> TargetFactors:
        if self.version is not None and self.bin is not None:
            raise UnfitValue("version-and-bin")
        return self

    def servers(self) -> dict[str, str | int]:
        """Returns the bin directory or embedded major version by the name of the level; empty where
        neither is varied."""
        return {**(self.version or {}), **(self.bin or {})}


class WorkloadFactors(Table):
    """The `[factors.workload]` table: workloads, sizes of their data, or folders of queries."""

    use: FileLevels | None = Field(
        None, description="ready workloads or folders; in place of workload.use"
    )
    queries: FileLevels | None = Field(
        None,
        description="folders of queries, compared name by name; in place of workload.queries",
    )
    scale: (
        Annotated[
            dict[str, Annotated[int, Field(ge=1, le=1_000_000)]],
            _NUMBERS,
            WithJsonSchema(_LIST_OR_TABLE),
        ]
        | None
    ) = Field(None, description="sizes of the data; in place of workload.scale")


class ClientFactors(Table):
    """The `[factors.client]` table: levels of keys of `[load]`, checked by the rules of
    those keys."""

    protocol: PlainLevels | None = None
    threads: PlainLevels | None = None
    pools: PlainLevels | None = None
    think_time: PlainLevels | None = Field(None, description="as load.think_time; 0 for none")
    max_tries: PlainLevels | None = None
    reconnect: PlainLevels | None = None
    arrivals: PlainLevels | None = None
    transport: PlainLevels | None = None
    busy_poll: PlainLevels | None = None
    sslmode: PlainLevels | None = None
    settings: Annotated[dict[str, Levels], SettingNames] = Field(
        default_factory=dict, description="settings of the load's sessions, NAME = levels"
    )

    @model_validator(mode="before")
    @classmethod
    def _no_steps(cls, table: Any) -> Any:
        for key in _STEPS if isinstance(table, dict) else ():
            if key in table:
                raise UnfitValue("load-is-no-factor", key=key)
        return table

    def varied(self) -> list[tuple[str, str, Any]]:
        """Yields the key, the name and the levels (or None) of each key of `[load]` that may be a
        factor."""
        names = sorted(set(type(self).model_fields) - {"settings"})
        return [(name, name, getattr(self, name)) for name in names]


class SchemaLevel(Table):
    """One level of `[factors.schema]`: SQL that makes a variant of the schema, and SQL that undoes
    it."""

    sql: str = Field("", description="statements, or the name of a .sql file")
    undo: str | None = Field(None, description="SQL that undoes it; required on an existing server")


def _schema_level(value: Any) -> Any:
    return {"sql": value} if isinstance(value, str) else value


SchemaLevels = Annotated[
    dict[str, Annotated[SchemaLevel, BeforeValidator(_schema_level)]],
    _FILES,
    WithJsonSchema(_LIST_OR_TABLE),
]
WeightLevels = Annotated[
    dict[str, Annotated[float, Field(strict=False)]], _NUMBERS, WithJsonSchema(_LIST_OR_TABLE)
]


class FactorsTable(Table):
    """What is varied: each key is a factor, its values are levels, the first is the baseline."""

    @classmethod
    def place_of(cls, name: str, value: Any) -> str | None:
        """Returns the table of a setting, of a knob, or of levels that are SQL."""
        if isinstance(value, list) and any(starts_as_sql(one) for one in value):
            return "schema"
        return place_of_setting(name)

    target: TargetFactors = Field(default_factory=TargetFactors)
    workload: WorkloadFactors = Field(default_factory=WorkloadFactors)
    schema_: dict[str, SchemaLevels] = Field(
        default_factory=dict,
        alias="schema",
        description="SQL that changes the built schema, NAME = levels",
    )
    scenarios: dict[str, FileLevels] = Field(
        default_factory=dict, description="scripts of a scenario, SCENARIO = files"
    )
    weights: dict[str, WeightLevels] = Field(
        default_factory=dict, description="weights of a scenario, SCENARIO = numbers"
    )
    client: ClientFactors = Field(default_factory=ClientFactors)
    postgres: Annotated[dict[str, Levels], SettingNames] = Field(
        default_factory=dict, description="settings of the server, NAME = levels"
    )
    host: Annotated[dict[str, Levels], DottedNames] = Field(
        default_factory=dict, description="knobs of the server's host, NAME = levels"
    )


def named_as_stored(
    factors: FactorsTable, stored: Collection[Mapping[str, Mapping[str, Any]]]
) -> FactorsTable:
    """Returns the table with the names that the levels of a stored run have; `stored` are levels by
    factor and name."""
    former = {
        factor
        for kind in stored
        for factor, levels in kind.items()
        if _FORMERLY in levels and UNCHANGED not in levels
    }

    def named(table: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            factor: {
                _FORMERLY if name == UNCHANGED and factor in former else name: level
                for name, level in levels.items()
            }
            for factor, levels in table.items()
        }

    found = {"schema_": named(factors.schema_), "scenarios": named(factors.scenarios)}
    return factors.model_copy(update=found)
