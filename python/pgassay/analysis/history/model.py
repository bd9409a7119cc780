"""A history of runs, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.analysis.apart.model import ApartRun, ConditionDifference
from pgassay.analysis.gates.model import GateResult
from pgassay.analysis.history.levels import Levels, Shift
from pgassay.analysis.statistics.values import Estimate
from pgassay.notes import Note


@dataclass(frozen=True)
class Change:
    """A change of level, in the metric's unit and with what else changed then."""

    arm: str
    metric: str
    shift: Shift
    """Its places count the points of its series."""
    first: int
    """The run with which the new level begins, counted from 0; likewise the next two."""
    earliest: int
    latest: int
    before: float
    """The old level, in the metric's unit, as `after` is the new one."""
    after: float
    change: Estimate
    """In per cent of the old level; in the metric's unit where that may be zero."""
    is_percent: bool
    conditions: tuple[ConditionDifference, ...]
    """What is not the same in the runs before `earliest` and at `latest`."""


@dataclass(frozen=True)
class Series:
    """One metric of one arm over the runs that have it."""

    arm: str
    """Its label; empty where the runs have one arm."""
    metric: str
    runs: tuple[int, ...]
    """Places of the runs in the history."""
    points: tuple[Estimate, ...]
    """One for each run, in the metric's unit: the mean of its trials, with the 95 % interval that
    they give."""
    levels: Levels
    means: tuple[float, ...]
    """Of the levels, in the metric's unit."""
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class LeftOut:
    """A run that is no part of the history, and why."""

    name: str
    why: Note


@dataclass(frozen=True)
class Judged:
    """The gates on the latest runs, against those before them."""

    gates: tuple[GateResult, ...]
    latest: tuple[str, ...]
    """The names of the runs that were judged, as `against` has those of the others."""
    against: tuple[str, ...]


@dataclass(frozen=True)
class HistoryAnalysis:
    """What a series of runs shows."""

    metric: str
    endpoints: tuple[str, ...]
    smallest_effect: float
    runs: tuple[ApartRun, ...]
    """In the order of time."""
    arms: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    series: tuple[Series, ...]
    """The primary metric and the endpoints of each arm first, then the metrics beside them."""
    judged: Judged | None = None

    @property
    def main(self) -> tuple[Series, ...]:
        """Returns the series of the primary metric and of the endpoints."""
        return tuple(one for one in self.series if one.metric in (self.metric, *self.endpoints))

    @property
    def changes(self) -> tuple[Change, ...]:
        """Returns all changes, the latest first; those of one run by their series."""
        found = [change for one in self.series for change in one.changes]
        return tuple(sorted(found, key=lambda change: -change.first))
