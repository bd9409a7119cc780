"""A finding: what is claimed, with its evidence.

Enters: nothing. Leaves: the `Finding` value. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgassay.analysis.model import Comparison


class FindingKind(StrEnum):
    """What a finding is for."""

    VERDICT = "verdict"
    """Answers the question."""
    INTERACTION = "interaction"
    """Says whether one factor's effect depends on another."""
    TREND = "trend"
    """Says whether a metric rises or falls along ordered levels."""
    CALIBRATION = "calibration"
    """What an A/A run says about the host."""
    EXPLANATION = "explanation"
    """A difference between the arms that may explain the verdict."""
    OBSERVATION = "observation"
    """Something else the run shows: by quantile, by load, around checkpoints, inside trials."""
    WARNING = "warning"
    """A caveat about the measurement."""


@dataclass(frozen=True)
class Finding:
    """A claim in one sentence, and the comparison that is its evidence."""

    kind: FindingKind
    title: str
    text: str
    evidence: Comparison | None = None
    rule: str = ""
    """The rule that made it, where a report has a section for that rule."""
