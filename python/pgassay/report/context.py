"""Everything a report is made of.

Enters: nothing. Leaves: the frozen `ReportContext`. Never: reads a run directory; the caller did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgassay.analysis.model import Analysis
from pgassay.analysis.series import TrialSeries
from pgassay.findings.model import Finding, FindingKind
from pgassay.plan.model import Plan


@dataclass(frozen=True)
class ReportContext:
    """One finished (or interrupted) run, ready to be told."""

    run_name: str
    question: str
    spec_text: str
    plan: Plan
    analysis: Analysis
    findings: tuple[Finding, ...]
    series: tuple[TrialSeries, ...]
    environment: Mapping[str, Any]
    """environment.json as it was stored; any part of it may be missing."""
    command: str
    """How to do the run again."""
    version: str
    """pgassay's own."""

    @property
    def title(self) -> str:
        """The question; the run's name where none was asked."""
        return self.question.strip() or self.run_name

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """The findings of one kind, in their order."""
        return tuple(finding for finding in self.findings if finding.kind is kind)
