"""The outcomes of gates, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes more than the worst of several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.reading.metrics import part_of
from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note
from pgassay.plan.model import Gate

_ENDS = 5
"""Checks of a gate that are shown at either end, where it has many."""


class GateOutcome(StrEnum):
    """What a run says of a gate, the worst last."""

    HOLDS = "holds"
    UNDECIDED = "undecided"
    FAILED = "failed"


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
    reason: Note | None = None
    """Why it is undecided."""
    is_final: bool = False
    """More blocks cannot decide it."""
    looks_worse: bool = False
    """Of a query: it fails, or is planned otherwise, more often than at the baseline."""
    caught_pct: float | None = None
    """Of an undecided one: the least change for the worse that fails in 90 % of runs with this
    scatter; None where there is none, or it is not known."""

    def written(self, gate: Gate) -> str:
        """Returns the gate as if it had been written for this check alone: `q7.mean<+20%` of
        `*.mean<+20%`."""
        is_of_parts = part_of(gate.metrics[0]) is not None
        sign = min((at for at in map(gate.text.find, "<>=") if at >= 0), default=0)
        return f"{self.comparison.metric}{gate.text[sign:]}" if is_of_parts else gate.text

    @property
    def is_worse(self) -> bool:
        """Whether the metric is worse by its verdict, or looks so, while the gate is undecided."""
        is_open = self.outcome is GateOutcome.UNDECIDED
        return is_open and (self.looks_worse or self.comparison.verdict is Verdict.WORSE)


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

    def ends(self) -> tuple[GateResult, GateResult]:
        """Returns the gate with the five checks that are worst and the five that are best, and
        with those between them, of which a gate on few queries has none."""
        order = list(GateOutcome)
        away = 1.0 if self.gate.above else -1.0

        def goodness(one: GateCheck) -> tuple[int, float]:
            return -order.index(one.outcome), away * (one.change or 0.0)

        if len(self.checks) <= 2 * _ENDS:
            return self, replace(self, checks=())
        ranked = sorted(self.checks, key=goodness)
        ends = (*ranked[:_ENDS], *ranked[-_ENDS:])
        return replace(self, checks=ends), replace(self, checks=tuple(ranked[_ENDS:-_ENDS]))

    @property
    def is_settled(self) -> bool:
        """Returns whether more blocks would not decide the gate: it is decided, or cannot be."""
        return self.outcome is not GateOutcome.UNDECIDED or all(
            one.outcome is not GateOutcome.UNDECIDED or one.is_final for one in self.checks
        )


def worst(outcomes: Sequence[GateOutcome]) -> GateOutcome:
    """Failed if one failed, undecided if one is undecided, or there is none."""
    order = list(GateOutcome)
    return max(outcomes, key=order.index, default=GateOutcome.UNDECIDED)


def lies_beyond(interval: Interval, limit: float, *, above: bool) -> bool:
    """Whether the whole interval lies on one side of the limit."""
    return interval[0] > limit if above else interval[1] < limit
