"""Which signals fill which cells, read from cells.toml.

Enters: the file beside this module. Leaves: `CELLS`, `WHY_MISSING`. Never: reads a trial.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from pgassay.analysis.methods.model import Kind, MethodName
from pgassay.notes import terms_of


@dataclass(frozen=True)
class Pattern:
    """Signals that are summed."""

    source: str
    thing: str
    name: str
    sign: int = 1

    @classmethod
    def of(cls, text: str) -> Pattern:
        """From `SOURCE/OBJECT/NAME`; an object may contain slashes."""
        sign = -1 if text.startswith("-") else 1
        source, _, rest = text.removeprefix("-").partition("/")
        thing, _, name = rest.rpartition("/")
        return cls(source, thing, name, sign)


@dataclass(frozen=True)
class CellDefinition:
    """One cell, or one for each disk."""

    method: MethodName
    kind: Kind
    of: str = ""
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
