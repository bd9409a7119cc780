"""Schema, data and scenarios of one workload folder, read whole.

Enters: a ready workload's name, or a folder. Leaves: a frozen `Workload`, or a SpecError.
Never: parses scripts (the engine does) and never runs SQL.

A folder holds `workload.toml`, `schema.sql`, `data.sql` and one script per scenario, in pgbench's
script language. `:scale` in the SQL files stands for the scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from pgassay.errors import SpecError
from pgassay.spec.paths import path_from
from pgassay.spec.suggest import did_you_mean
from pgassay.spec.tables import read_table
from pgassay.spec.texts import text_of

_SCALE = re.compile(r"(?<!:):scale\b")
_READY = Path(str(files("pgassay") / "workloads"))


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ScenarioTable(_Table):
    """One transaction script of a workload."""

    file: str
    weight: Annotated[float, Field(strict=False)] = Field(
        1.0, description="share of transactions; −n is n connections of its own"
    )

    @field_validator("weight")
    @classmethod
    def _share_or_connections(cls, weight: float) -> float:
        if weight == 0 or (weight < 0 and weight != int(weight)) or not math.isfinite(weight):
            raise ValueError("a weight is above 0, or −n for n connections of its own")
        return weight


class WorkloadFile(_Table):
    """workload.toml."""

    title: str
    data: str | None = Field(None, description="take schema.sql and data.sql from that folder")
    scenarios: Annotated[dict[str, ScenarioTable], Field(min_length=1)]


@dataclass(frozen=True)
class Scenario:
    """A named, weighted transaction script."""

    name: str
    file: str
    script: str
    weight: float


@dataclass(frozen=True)
class Workload:
    """What is put into the server and what is run on it."""

    name: str
    title: str
    schema_sql: str
    data_sql: str
    scenarios: tuple[Scenario, ...]

    def building_sql(self, scale: int) -> tuple[str, str]:
        """Schema and data statements at a scale."""
        return with_scale(self.schema_sql, scale), with_scale(self.data_sql, scale)


def with_scale(sql: str, scale: int) -> str:
    """SQL with the scale put in for `:scale`."""
    return _SCALE.sub(str(scale), sql)


def ready_workloads() -> dict[str, str]:
    """Names of the workloads that ship, with their titles."""
    found = {}
    for file in sorted(_READY.glob("*/workload.toml")):
        table = read_table(WorkloadFile, text_of(file), str(file))
        found[file.parent.name] = table.title
    return found


def load_workload(use: str, beside: Path, *, file: str, key: str = "workload.use") -> Workload:
    """The workload named `use`: ready, or a folder relative to `beside`.

    `file` is the experiment file and `key` the place in it, for error messages.
    """
    folder = _READY / use if "/" not in use and use not in (".", "..") else None
    if folder is None or not (folder / "workload.toml").is_file():
        folder = path_from(use, beside)
    if not (folder / "workload.toml").is_file():
        hint = did_you_mean(use, ready_workloads())
        raise SpecError(
            f"{use!r} is neither a ready workload nor a folder with a workload.toml{hint}",
            file=file,
            key=key,
        )
    source = folder / "workload.toml"
    table = read_table(WorkloadFile, text_of(source), str(source))
    data = _data_folder(table, folder, source)
    return Workload(
        name=folder.resolve().name,
        title=table.title,
        schema_sql=text_of(data / "schema.sql"),
        data_sql=text_of(data / "data.sql"),
        scenarios=tuple(
            Scenario(name, scenario.file, text_of(folder / scenario.file), scenario.weight)
            for name, scenario in table.scenarios.items()
        ),
    )


def workload_to_json(workload: Workload) -> dict[str, Any]:
    """The workload as a JSON object."""
    return asdict(workload)


def workload_from_json(stored: Mapping[str, Any]) -> Workload:
    """The workload of such an object; KeyError or TypeError where it is none."""
    scenarios = tuple(Scenario(**scenario) for scenario in stored["scenarios"])
    return Workload(**{**stored, "scenarios": scenarios})


def _data_folder(table: WorkloadFile, folder: Path, source: Path) -> Path:
    if table.data is None:
        return folder
    for candidate in (folder.parent / table.data, _READY / table.data):
        if (candidate / "schema.sql").is_file():
            return candidate
    raise SpecError(f"{table.data!r} holds no schema.sql", file=str(source), key="data")
