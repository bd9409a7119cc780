"""A table of typed values.

Enters: names, rows of values by column. Leaves: frozen tables. Never: rounds, or holds a value that
a spreadsheet cannot: what is not finite is absent, characters that cannot be seen are written out.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.reading.plain_text import visible

Value = str | int | float | bool | datetime | None
_SUFFIXES = {"ms": "_ms", "%": "_pct"}
"""Units that the names of some metrics lack."""


@dataclass(frozen=True)
class DataColumn:
    """One column; its unit is part of its name where it has one."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class DataTable:
    """Rows of values, one for each column."""

    name: str
    """Of its file or sheet."""
    title: str
    columns: tuple[DataColumn, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __bool__(self) -> bool:
        return bool(self.rows)


def table_of(
    name: str, rows: Iterable[Mapping[str, Any]], more: Sequence[DataColumn] = ()
) -> DataTable:
    """A table of the lists; `more` are columns that depend on the run, behind its own."""
    listed = _listed()[name]
    columns = (*(DataColumn(key, *of) for key, of in listed["columns"].items()), *more)
    found = tuple(tuple(plain(row[one.name]) for one in columns) for row in rows)
    return DataTable(name, listed["title"], columns, found)


def blank(name: str) -> dict[str, Value]:
    """A row of a table without a value."""
    return dict.fromkeys(_listed()[name]["columns"])


def metric_column(metric: str) -> DataColumn:
    """The column of a metric: its name in JSON, with the unit where the name lacks it."""
    one = METRICS[metric]
    suffix = _SUFFIXES.get(one.unit, "")
    name = metric if f"{suffix}_" in f"{metric}_" else f"{metric}{suffix}"
    return DataColumn(name, one.unit, one.title)


def moment(ns: int | None) -> datetime | None:
    """Nanoseconds of Unix time as a time in UTC."""
    return None if ns is None else datetime.fromtimestamp(ns / 1e9, UTC)


def ends(name: str, interval: tuple[float, float] | None, unit: str = "") -> dict[str, Any]:
    """The two ends of an interval as columns NAME_low and NAME_high, with a unit behind."""
    low, high = interval or (None, None)
    return {f"{name}_low{unit}": low, f"{name}_high{unit}": high}


def plain(value: Any) -> Value:
    """A value as a cell."""
    match value:
        case None | bool() | int() | datetime():
            return value
        case float():
            return float(value) if math.isfinite(value) else None
        case Enum():
            return visible(str(value.value))
        case list() | tuple():
            return "; ".join(str(plain(one)) for one in value)
        case _:
            return visible(str(value))


@cache
def _listed() -> Mapping[str, Any]:
    """Table → its title, and the unit and meaning of its columns."""
    found: dict[str, Any] = {}
    for file in ("run_tables.toml", "recorded_tables.toml"):
        found |= tomllib.loads((files(__package__) / file).read_text("utf-8"))
    return found
