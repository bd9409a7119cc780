"""Tables of data by their names in `run_tables.toml` and `recorded_tables.toml`.

Enters: names, facts. Leaves: tables with raw values. Never: rounds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.metrics import METRICS
from pgassay.report.document.table import Cell, Column, Row, Table, data_column, found

_SUFFIXES = {"ms": "_ms", "%": "_pct"}
"""Units that the names of some metrics lack."""


def table_of(name: str, facts: Iterable[Any], more: Sequence[Column] = ()) -> Table:
    """A table of the lists; `more` are columns that depend on the run, behind its own."""
    listed = _listed()[name]
    columns = (*(data_column(key, *of) for key, of in listed["columns"].items()), *more)
    rows = (Row(tuple(Cell(value=_value(one, fact)) for one in columns)) for fact in facts)
    return Table(columns, tuple(rows), name=name, title=listed["title"])


def _value(column: Column, fact: Any) -> Any:
    """The value of a fact in a column; one in UTC is stored in nanoseconds."""
    value = found(fact, column.path)
    return moment(value) if column.unit == "UTC" else value


def blank(name: str) -> dict[str, None]:
    """A row of a table without a value."""
    return dict.fromkeys(_listed()[name]["columns"])


def metric_column(metric: str) -> Column:
    """The column of a metric: its name in JSON, with the unit where the name lacks it."""
    one = METRICS[metric]
    suffix = _SUFFIXES.get(one.unit, "")
    name = metric if f"{suffix}_" in f"{metric}_" else f"{metric}{suffix}"
    return data_column(name, one.unit, one.title)


def moment(ns: int | None) -> datetime | None:
    """Nanoseconds of Unix time as a time in UTC."""
    return None if ns is None else datetime.fromtimestamp(ns / 1e9, UTC)


@cache
def _listed() -> Mapping[str, Any]:
    """Table → its title, and of its columns unit, meaning, where a fact has the value."""
    tables: dict[str, Any] = {}
    for file in ("run_tables.toml", "recorded_tables.toml"):
        tables |= tomllib.loads((files(__package__) / file).read_text("utf-8"))
    return tables
