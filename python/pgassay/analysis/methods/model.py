"""The cells of the USE, RED and LTES tables, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note

MethodName = Literal["use", "red", "ltes"]
Kind = Literal["utilisation", "saturation", "errors", "rate", "duration", "latency", "traffic"]


@dataclass(frozen=True)
class CellFigure:
    """One cell in one arm: the mean of its trials, and its change from the baseline arm."""

    arm: str
    mean: float | None
    trials: int
    """Those that have the figure."""
    difference: float | None = None
    """Mean over blocks; None of the baseline arm, and where nothing is compared."""
    ci95: Interval | None = None
    """Of the difference, corrected for many comparisons; None of a quantity compared by ratios."""
    change_pct: float | None = None
    ci95_pct: Interval | None = None
    p_by: float | None = None
    """Corrected for all cells of all arms (Benjamini-Yekutieli)."""
    clear: bool = False
    """Whether it differs from the baseline arm after that correction; of a metric that has a
    verdict of its own, whether that says so."""


@dataclass(frozen=True)
class MethodCell:
    """One cell of a table, in every arm."""

    method: MethodName
    of: str
    """The resource or scenario; empty where it is of the service as a whole."""
    kind: Kind
    title: str | Note
    unit: str
    digits: int
    good: Literal["higher", "lower", "neither"]
    figures: tuple[CellFigure, ...]
    """By arm, in the plan's order; empty where nothing was measured."""
    not_measured: str = ""
    """Why there is no figure."""

    def result(
        self, figure: CellFigure
    ) -> Literal["better", "worse", "different", "no clear change"]:
        """What a figure is, compared with that of the baseline arm."""
        if not figure.clear or figure.difference is None:
            return "no clear change"
        if self.good == "neither":
            return "different"
        return "better" if (figure.difference > 0.0) == (self.good == "higher") else "worse"
