"""The cells of the USE, RED and LTES tables as values, and which signals fill them.

Enters: cells.toml. Leaves: frozen dataclasses, `CELLS`, `WHY_MISSING`. Never: reads a trial.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from pgassay.analysis.compare.model import ArmFigure, Change
from pgassay.notes import Note, terms_of

MethodName = Literal["use", "red", "ltes"]
Kind = Literal["utilisation", "saturation", "errors", "rate", "duration", "latency", "traffic"]


@dataclass(frozen=True)
class MethodCell:
    """One cell of a table, in every arm."""

    method: MethodName
    of: str | Note
    """The resource or scenario; empty where it is of the service as a whole."""
    kind: Kind
    title: str | Note
    unit: str
    digits: int
    good: Literal["higher", "lower", "neither"]
    figures: tuple[ArmFigure, ...]
    """By arm, in the plan's order; empty where nothing was measured."""
    not_measured: str = ""
    """Why there is no figure."""
    figure: str = ""
    """The figure of the host, such as `%util`, that is the same; empty where none is."""

    def result(self, figure: ArmFigure) -> Change:
        """Returns what a figure is, compared with that of the baseline arm."""
        return figure.change(self.good)


@dataclass(frozen=True)
class ObservedCell:
    """One cell of an observation, in windows of equal length."""

    cell: MethodCell
    values: tuple[float, ...]
    """Of the windows that have the figure, in order of time; empty where nothing was measured."""

    @property
    def mean(self) -> float:
        """Returns the mean of the windows."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True)
class Pattern:
    """Signals that are summed."""

    source: str
    thing: str
    name: str
    sign: int = 1

    @classmethod
    def of(cls, text: str) -> Pattern:
        """Parses `SOURCE/OBJECT/NAME`; an object may contain slashes."""
        sign = -1 if text.startswith("-") else 1
        source, _, rest = text.removeprefix("-").partition("/")
        thing, _, name = rest.rpartition("/")
        return cls(source, thing, name, sign)


@dataclass(frozen=True)
class CellDefinition:
    """The definition of one cell, or of one for each disk."""

    method: MethodName
    kind: Kind
    of: str | Note = ""
    title: str = ""
    """Of a metric: the metric's own where there is none."""
    unit: str = ""
    digits: int = 0
    good: Literal["higher", "lower", "neither"] = "neither"
    signals: tuple[str, ...] = ()
    per: tuple[str, ...] = ()
    times: float = 1.0
    metric: tuple[str, ...] = ()
    floor: float | None = None
    each: Literal["", "disk"] = ""
    missing: str = ""
    figure: str = ""
    memory: Literal["", "host", "group"] = ""
    """Of a cell of memory: that of the host, or of the server's control group where this has a
    limit."""


_FILE: Mapping[str, Any] = terms_of(
    tomllib.loads((files(__package__) / "cells.toml").read_text("utf-8")),
    ("missing", "title", "unit", "of"),
)
_LISTS = ("signals", "per", "metric")


def _defined(entry: Mapping[str, Any]) -> CellDefinition:
    fields: dict[str, Any] = {
        key: tuple(value) if key in _LISTS else value for key, value in entry.items()
    }
    return CellDefinition(**fields)


CELLS = tuple(map(_defined, _FILE["cell"]))
WHY_MISSING: Mapping[str, str] = _FILE["missing"]
"""Source → why there is no figure of it."""
