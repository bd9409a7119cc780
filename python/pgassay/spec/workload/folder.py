"""Read a workload folder: schema, data and scenarios.

Enters: a ready workload's name, or a folder. Leaves: a frozen `Workload`, or a SpecError.
Never: parses scripts (the engine does) and never runs SQL.

The format of the folder is described in docs/workloads.md.
"""

from __future__ import annotations

import base64
import math
import re
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, TypedDict

from pydantic import Field, field_validator, model_validator

from pgassay.refusals.refusal import Refusal, UnfitValue
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.reading.tables import read_table, shortened
from pgassay.spec.reading.texts import (
    BYTE_ORDER_MARK,
    Roots,
    bytes_of,
    is_file,
    may_read,
    near_files,
    path_from,
    shown,
    text_of,
)
from pgassay.spec.reading.values import Duration, MemorySize, Table
from pgassay.spec.secrets.redaction import sql_secret_line
from pgassay.spec.workload.parameters import Order, ParameterFile, parameter_file

INSTALLED = "installed"
"""The `data` of such a workload."""


@dataclass(frozen=True)
class InstalledTables:
    """The tables that a workload needs in a database which has them already, and the schemas in
    which it looks for them."""

    tables: tuple[str, ...]
    """As the scripts write them: with a schema or without."""
    schemas: tuple[str, ...] = ()
    """The search path of the load's sessions; empty for the one that the user has there."""


_SCALE = re.compile(r"(?<!:):scale\b")
READY = Path(str(files("pgassay") / "workloads"))
"""The folder of the ready workloads."""
Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)]


class ScenarioTable(Table):
    """One scenario in a workload.toml: the file of its transaction script, and its weight."""

    file: str = Field(description="the script, relative to the folder; required")
    weight: Annotated[float, Field(strict=False)] = Field(
        1.0, description="share of the transactions; −n: n connections that run nothing else"
    )

    parameters: str | None = Field(
        None, description="Parquet or CSV file; each transaction takes a row as its variables"
    )
    order: Order | None = Field(
        None, description="of the rows of parameters: random [default] or sequential"
    )

    @field_validator("weight")
    @classmethod
    def _share_or_connections(cls, weight: float) -> float:
        if weight == 0 or (weight < 0 and weight != int(weight)) or not math.isfinite(weight):
            raise UnfitValue("weight-form")
        return weight

    @model_validator(mode="after")
    def _order_of_parameters(self) -> ScenarioTable:
        if self.order is not None and self.parameters is None:
            raise UnfitValue("order-without-parameters")
        return self


class WorkloadFile(Table):
    """The tables of a workload.toml."""

    title: str = Field("", description="one line that reports show [the folder's name]")
    data: str | None = Field(
        None, description="folder with schema.sql and data.sql; installed: the tables are there"
    )
    tables: Names = Field((), description="of installed data: the tables that the scripts use")
    schemas: Names = Field((), description="of installed data: where names are looked up")
    size: MemorySize | None = Field(
        None, description="room of the data on disk, for each unit of scale; of other data theirs"
    )
    warmup: Duration | None = Field(
        None, description="time of load before measuring, where load.warmup says none"
    )
    scenarios: Annotated[dict[str, ScenarioTable], Field(min_length=1)] = Field(
        description="the scenarios by name; required"
    )
    checks: dict[str, str] = Field(
        {}, description="queries for rows that must not be there after a load, NAME = file"
    )

    @model_validator(mode="after")
    def _tables_of_installed_data(self) -> WorkloadFile:
        if self.data == INSTALLED and "tables" not in self.model_fields_set:
            raise UnfitValue("installed-without-tables")
        if self.data != INSTALLED and (self.tables or self.schemas):
            raise UnfitValue("tables-without-installed")
        return self

    @property
    def installed(self) -> InstalledTables | None:
        """The tables that must be on the server already; None where the workload makes its own."""
        return InstalledTables(self.tables, self.schemas) if self.data == INSTALLED else None


@dataclass(frozen=True)
class Scenario:
    """A named, weighted transaction script."""

    name: str
    file: str
    script: str
    """Its text, as people read it."""
    weight: float
    script_base64: str = ""
    """Its bytes, where they are not UTF-8."""
    parameters: ParameterFile | None = None
    """Where each of its transactions takes a row as variables."""

    @property
    def script_bytes(self) -> bytes:
        """The bytes that the engine parses and sends: scripts have the encoding of the load's
        sessions."""
        return base64.b64decode(self.script_base64) or self.script.encode()


@dataclass(frozen=True)
class DataCheck:
    """A query of the workload that returns rows which break a rule of its data; it runs after each
    load."""

    name: str
    file: str
    sql: str


@dataclass(frozen=True)
class Workload:
    """The SQL that makes a workload's data, and the scenarios that run on them."""

    name: str
    title: str
    schema_sql: str
    data_sql: str
    scenarios: tuple[Scenario, ...]
    warmup_s: float | None = None
    """How long it takes to reach its level after a reset, if the workload says so."""
    installed: InstalledTables | None = None
    """The tables it needs on the server, if it makes none itself."""
    checks: tuple[DataCheck, ...] = ()
    unit_bytes: int | None = None
    """Bytes that its data take on disk for each unit of scale, if the workload says so."""

    def building_sql(self, scale: int) -> tuple[str, str]:
        """Returns the SQL that makes the schema and the SQL that makes the data, at a scale."""
        return with_scale(self.schema_sql, scale), with_scale(self.data_sql, scale)

    def checks_at(self, scale: int) -> tuple[DataCheck, ...]:
        """Returns the checks of the data, at a scale."""
        return tuple(replace(one, sql=with_scale(one.sql, scale)) for one in self.checks)


class ScriptFields(TypedDict):
    """The fields of a `Scenario` that hold its script."""

    script: str
    script_base64: str


def script_fields(raw: bytes) -> ScriptFields:
    """Returns the fields of a `Scenario` for a script of these bytes."""
    raw = raw.removeprefix(BYTE_ORDER_MARK.encode())
    text = shown(raw)
    is_text = text.encode() == raw
    return {"script": text, "script_base64": "" if is_text else base64.b64encode(raw).decode()}


def with_scale(sql: str, scale: int) -> str:
    """Returns SQL with `:scale` replaced by the scale."""
    return _SCALE.sub(str(scale), sql)


def ready_workloads() -> dict[str, str]:
    """Returns the titles of the ready workloads, by name."""
    found = {}
    for file in sorted(READY.glob("*/workload.toml")):
        table = read_table(WorkloadFile, text_of(file), str(file))
        found[file.parent.name] = table.title
    return found


def workload_folder(use: str, beside: Path) -> Path:
    """Returns the folder of the workload that `use` names; it may not exist."""
    if "/" not in use and is_file(READY / use / "workload.toml"):
        return READY / use
    return path_from(use, beside)


def load_workload(
    use: str, beside: Path, *, file: str, key: str = "workload.use", roots: Roots = ()
) -> Workload:
    """Reads the workload that `use` names: a ready one, or a folder relative to `beside`.

    `file` is the experiment file and `key` the place in it, for error messages.
    """
    folder = workload_folder(use, beside)
    if not is_file(folder / "workload.toml"):
        hint = did_you_mean(use, ready_workloads())
        raise Refusal("no-such-workload", key, name=shortened(use), near=hint).in_file(file)
    source = folder / "workload.toml"
    table = read_table(WorkloadFile, text_of(source, roots), str(source))
    schema_sql, data_sql, unit_bytes = _building_sql(table, folder, source, roots)
    name = folder.resolve().name
    return Workload(
        name=name,
        title=table.title or name,
        schema_sql=schema_sql,
        data_sql=data_sql,
        scenarios=tuple(
            _scenario(name, scenario, folder, source, roots)
            for name, scenario in table.scenarios.items()
        ),
        warmup_s=table.warmup,
        installed=table.installed,
        checks=tuple(
            DataCheck(name, one, _sql_of_check(folder / one, name, source, roots))
            for name, one in table.checks.items()
        ),
        unit_bytes=unit_bytes,
    )


def load_data(use: str, beside: Path, *, file: str, roots: Roots = ()) -> Workload:
    """Reads the data that `use` names for a query set: those of a workload, or of a folder with
    schema.sql and data.sql, of which either may be left out, and no workload.toml."""
    folder = workload_folder(use, beside)
    paths = [folder / "schema.sql", folder / "data.sql"]
    if is_file(folder / "workload.toml") or not any(map(is_file, paths)):
        return load_workload(use, beside, file=file, roots=roots)
    schema, data = (_sql(path, roots) if is_file(path) else "" for path in paths)
    name = folder.resolve().name
    return Workload(name, name, schema, data, ())


def _building_sql(
    table: WorkloadFile, folder: Path, source: Path, roots: Roots
) -> tuple[str, str, int | None]:
    """schema.sql and data.sql, both empty where nothing is to be built, and the size of a unit."""
    if table.installed is not None:
        return "", "", None
    data = _data_folder(table, folder, source)
    size, theirs = table.size, data / "workload.toml"
    if size is None and data != folder and is_file(theirs):
        size = read_table(WorkloadFile, text_of(theirs, roots), str(theirs)).size
    return _sql(data / "schema.sql", roots), _sql(data / "data.sql", roots), size


def _data_folder(table: WorkloadFile, folder: Path, source: Path) -> Path:
    if table.data is None:
        return folder
    for candidate in (folder.parent / table.data, READY / table.data):
        if is_file(candidate / "schema.sql"):
            return candidate
    raise Refusal("no-schema-sql", folder=shortened(table.data)).in_file(str(source))


def _sql_of_check(path: Path, name: str, source: Path, roots: Roots) -> str:
    _refuse_missing(path, f"checks.{name}", source, roots)
    return _sql(path, roots)


def _refuse_missing(path: Path, key: str, source: Path, roots: Roots) -> None:
    """Stop where the key of a workload.toml names no file."""
    if may_read(path, roots) and not is_file(path):
        named, near = shortened(str(path), 400), near_files(path, roots)
        raise Refusal("no-file", key, name=named, near=near).in_file(str(source))


def _scenario(
    name: str, table: ScenarioTable, folder: Path, source: Path, roots: Roots
) -> Scenario:
    path, parameters = folder / table.file, None
    _refuse_missing(path, f"scenarios.{name}.file", source, roots)
    fields = script_fields(bytes_of(path, roots))
    _refuse_password(fields["script"], path)
    if table.parameters is not None:
        key, rows = f"scenarios.{name}.parameters", path_from(table.parameters, folder)
        if not may_read(rows, roots):
            raise Refusal("outside-of-the-folder", key).in_file(str(rows))
        _refuse_missing(rows, key, source, roots)
        parameters = parameter_file(rows, table.order or "random", key)
    return Scenario(name, table.file, weight=table.weight, parameters=parameters, **fields)


def _sql(path: Path, roots: Roots) -> str:
    text = text_of(path, roots)
    _refuse_password(text, path)
    return text


def _refuse_password(text: str, path: Path) -> None:
    """Stop at SQL with a password, because a run directory keeps it word for word."""
    line = sql_secret_line(text)
    if line is not None:
        raise Refusal("password-in-sql", line=line).in_file(str(path))
