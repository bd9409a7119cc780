"""Levels weighed against each other, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgassay.analysis.statistics.values import Interval

Standing = Literal["baseline", "better", "worse", "no clear difference"]


@dataclass(frozen=True)
class LevelFigure:
    """One level on one criterion."""

    level: str
    mean: float
    """Over trials and, with several factors, over the levels of the others."""
    effect_pct: float | None
    """Against the baseline; None of the baseline, and where that is zero."""
    ci95_pct: Interval | None
    """Corrected as the verdict of the metric is."""
    standing: Standing


@dataclass(frozen=True)
class Criterion:
    """One criterion over all levels."""

    name: str
    title: str
    aim: str
    """What one wants who chooses by it, such as `little WAL`."""
    noun: str
    """What differs, such as `WAL`."""
    metric: str
    figures: tuple[LevelFigure, ...]
    best: tuple[str, ...]
    """The levels that are not clearly worse than any other; all of them where nothing differs."""
    in_order: bool
    """Whether the best levels have better means than all others: with few trials a level may be
    clearly worse than a second, and a third that looks worse still may not be."""


@dataclass(frozen=True)
class Beaten:
    """A level that is clearly worse than another in something, and clearly better in nothing."""

    level: str
    by: str
    worse_in: tuple[str, ...]
    """Names of criteria."""
    open_in: tuple[str, ...]
    """Criteria in which it may yet be better by more than the margin; none: it is beaten for
    certain."""


@dataclass(frozen=True)
class TradeOff:
    """The levels of one factor."""

    factor: str
    levels: tuple[str, ...]
    """The baseline first."""
    criteria: tuple[Criterion, ...]
    beaten: tuple[Beaten, ...]
    unbeaten: tuple[str, ...]
    """The levels that no other beats for certain."""
    disagree: bool
    """Whether one level is clearly better than another by one criterion and worse by another."""

    @property
    def matters(self) -> bool:
        """Whether there is something to weigh: criteria disagree, or three levels or more."""
        return self.disagree or len(self.levels) > 2
