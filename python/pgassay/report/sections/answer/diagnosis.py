"""Known mechanisms and problems that the run shows signs of, and how to test each.

Enters: the context. Leaves: the findings of kind DIAGNOSIS, the surest first. Never: judges one.
"""

from __future__ import annotations

from pgassay.findings.model import Confidence, FindingKind
from pgassay.report.context import ReportContext
from pgassay.report.section import Content, section

_ORDER = tuple(Confidence)


@section("answer/diagnosis", "Diagnosis")
def diagnosis(context: ReportContext) -> Content | None:
    """The section is left out where nothing was recognised, unless it could not be."""
    found = sorted(
        context.of_kind(FindingKind.DIAGNOSIS),
        key=lambda one: _ORDER.index(one.confidence or Confidence.HYPOTHESIS),
    )
    alternates = context.plan.alternates
    return {"diagnoses": found, "alternates": alternates} if found or alternates else None
