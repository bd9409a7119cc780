"""Gates and their outcomes, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes more than the worst of several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.statistics.values import Interval


class GateOutcome(StrEnum):
    """What a run says of a gate, the worst last."""

    HOLDS = "holds"
    UNDECIDED = "undecided"
    FAILED = "failed"


@dataclass(frozen=True)
class Gate:
    """A limit on the change of a metric from the baseline."""

    text: str
    """As it was given."""
    metrics: tuple[str, ...]
    """Names in metrics.toml: of these the first that a run has is gated."""
    above: bool
    """Whether the change must be above the limit, or below it."""
    limit: float
    """In per cent of the baseline; in percentage points of a metric that is in per cent."""


@dataclass(frozen=True)
class GateCheck:
    """A gate on one comparison."""

    comparison: Comparison
    unit: Literal["%", "points"]
    change: float | None
    """In this unit, as both intervals."""
    ci95: Interval | None
    """By which it fails."""
    ci90: Interval | None
    """By which it holds."""
    outcome: GateOutcome
    reason: str = ""
    """Why it is undecided."""


@dataclass(frozen=True)
class GateResult:
    """A gate on everything that a run compares."""

    gate: Gate
    checks: tuple[GateCheck, ...]
    """By level and load; empty where no run has the metric."""

    @property
    def outcome(self) -> GateOutcome:
        """The worst outcome of its checks."""
        return worst([one.outcome for one in self.checks])


def worst(outcomes: Sequence[GateOutcome]) -> GateOutcome:
    """Failed if one failed, undecided if one is undecided, or there is none."""
    order = list(GateOutcome)
    return max(outcomes, key=order.index, default=GateOutcome.UNDECIDED)
