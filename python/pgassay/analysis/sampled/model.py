"""What was sampled, by arm and by load, as values; and the list of the host's figures.

Enters: figures.toml. Leaves: frozen dataclasses, `HOST`, `DISK`, `SPEED`, the figure of a type of
waits. Never: computes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeVar

from pgassay.analysis.compare.model import ArmFigure
from pgassay.notes import terms_of

T = TypeVar("T")
_FILE: Mapping[str, Any] = terms_of(
    tomllib.loads((files(__package__) / "figures.toml").read_text("utf-8")), ("title", "unit")
)


@dataclass(frozen=True)
class Definition:
    """A figure of the host, or of each disk."""

    name: str
    """As vmstat, iostat or pg_expecto call it."""
    title: str
    unit: str
    digits: int
    floor: float
    """A smaller difference, in its unit, is never called clear."""
    source: str = ""
    """What `measures/courses/figures.py` calls it; empty: the same."""
    times: float = 1.0
    """From its unit there to this one."""
    good: Literal["higher", "lower", "neither"] = "neither"
    detail: bool = False
    """Whether it is left out where room is scarce: another figure nearly says it."""

    def of(self, disk: str, values: Mapping[str, T]) -> T | None:
        """Returns its value of a disk, or of the host where there is none; None if not read."""
        name = self.source or self.name
        return values.get(f"{disk}/{name}" if disk else name)


HOST = tuple(Definition(**one) for one in _FILE["host"])
DISK = tuple(Definition(**one) for one in _FILE["disk"])
SPEED = tuple(Definition(**one) for one in _FILE["speed"])


def wait_definition(name: str) -> Definition:
    """Returns the figure of a type of waits, such as `LWLock`."""
    return Definition(name, **_FILE["wait"])


@dataclass(frozen=True)
class IntervalSpread:
    """A figure over the intervals of all trials of an arm."""

    arm: str
    median: float
    smallest: float
    largest: float


@dataclass(frozen=True)
class HostFigure:
    """A figure of the host, of one disk, or of the speed and waits of the load, in every arm."""

    name: str
    device: str
    """Empty for a figure of the whole host."""
    unit: str
    digits: int
    good: Literal["higher", "lower", "neither"]
    spreads: tuple[IntervalSpread, ...]
    """Of the arms in which it was read."""
    figures: tuple[ArmFigure, ...]
    """The means of trials, and their change from the baseline arm, by arm."""

    @property
    def differs(self) -> bool:
        """Whether any arm differs clearly."""
        return any(one.clear for one in self.figures)


@dataclass(frozen=True)
class WaitEvent:
    """A wait event in every arm, and the statements that met it."""

    event: str
    """Such as `IO:DataFileExtend`; `CPU` where a session waited for nothing."""
    figures: tuple[ArmFigure, ...]
    """Average sessions of the load, by arm."""
    samples: Mapping[str, int]
    """Arm → sampled sessions that were found in it, over all trials."""
    trials: Mapping[str, int]
    """Arm → trials in which it was found."""
    statements: tuple[tuple[str, float], ...] = ()
    """Query ids that were found in it most often in any arm, with their average sessions."""


@dataclass(frozen=True)
class LoadProfile:
    """One arm at one load: means of its trials."""

    arm: str
    level: float
    """Clients, or the rate where loads differ by it."""
    connections: int | None
    """That ran transactions; None where a program of the user's opens them."""
    pools: Mapping[str, int]
    """Scenario → its own connections; empty where all connections run all scenarios."""
    trials: int
    values: Mapping[str, float]
    """Metrics (`tps`, `latency_mean`, …), types of waits, and the figures of `SPEED` and `HOST`,
    those of `DISK` as `vda/IOPS`; in their units."""
