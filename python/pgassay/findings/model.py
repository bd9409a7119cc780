"""What is claimed, with its evidence.

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
    """Whether one factor's effect depends on another."""
    TREND = "trend"
    """Whether ordered levels lie on a line."""
    CALIBRATION = "calibration"
    """What an A/A run says of the host."""
    EXPLANATION = "explanation"
    """A difference between the arms that goes with the verdict."""
    OBSERVATION = "observation"
    """Something else the run shows: by quantile, by load, around checkpoints, inside trials."""
    WARNING = "warning"
    """A doubt about the measurement."""


@dataclass(frozen=True)
class Finding:
    """A claim in one sentence, and the comparison that is its evidence."""

    kind: FindingKind
    title: str
    text: str
    evidence: Comparison | None = None
