"""What an analysis says of single arms, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ArmSummary:
    """Mean of each metric over an arm's trials."""

    id: str
    label: str
    levels: Mapping[str, str]
    trials: int
    means: Mapping[str, float]


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
