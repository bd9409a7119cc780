"""The caveats of a run by what they could change.

Enters: the context. Leaves: notes by importance. Never: judges a caveat.
"""

from __future__ import annotations

from pgassay.findings.model import FindingKind
from pgassay.notes import Importance, Note
from pgassay.report.context import ReportContext


def caveats_of(context: ReportContext) -> dict[Importance, tuple[Note, ...]]:
    """Returns the caveats of a run by what they could change, each once, the worst first."""
    groups: dict[Importance, dict[Note, None]] = {}
    for warning in context.of_kind(FindingKind.WARNING):
        groups.setdefault(warning.importance or Importance.SIZE, {})[warning.claim] = None
    return {one: tuple(groups[one]) for one in Importance if one in groups}


def caveats_that_matter(context: ReportContext) -> int:
    """Returns how many caveats could change the result."""
    groups = caveats_of(context)
    return sum(len(texts) for one, texts in groups.items() if one is not Importance.DETAIL)
