"""What an analysis says of single arms, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgassay.analysis.statistics.values import Interval


@dataclass(frozen=True)
class ArmSummary:
    """Mean of each metric over an arm's trials."""

    id: str
    label: str
    levels: Mapping[str, str]
    trials: int
    means: Mapping[str, float]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """95 % interval of a mean by Student's t over the trials; none of one trial or equal values."""


@dataclass(frozen=True)
class IdleTrials:
    """An arm with trials, or trials' steps at one load, in which no transaction was committed."""

    arm: str
    label: str
    step: float | None
    """The load; None means whole trials."""
    trials: int
    of: int
    """How many trials of this arm count."""
    takes: tuple[tuple[str, str], ...]
    """(factor, level) of the verdicts that are withdrawn because of it."""
