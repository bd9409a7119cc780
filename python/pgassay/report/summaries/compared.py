"""How many measured figures of a run there are, and how many of them differ between arms.

Enters: the context. Leaves: the summary of a section. Never: judges a figure.
"""

from __future__ import annotations

from pgassay.analysis.model import Comparison, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Summary, differing

_DIFFERS = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


def compared(context: ReportContext, code: str, *groups: str) -> Summary:
    """Counts the metrics of these groups, of all if none is named, and those that differ clearly
    at any level, over whole trials or at a load."""
    found = [
        one
        for one in context.analysis.answer.comparisons
        if not groups or METRICS[one.metric].group in groups
    ]
    if not found:
        means = {name for arm in context.analysis.answer.arms for name in arm.means}
        own = [one for one in means if not groups or METRICS[one].group in groups]
        return differing(code, len(own), None)
    differ = {one.metric for one in found if differs(one)}
    return differing(code, len({one.metric for one in found}), len(differ))


def differs(one: Comparison) -> bool:
    """Returns whether a difference is clear: of a metric with a verdict, by that."""
    return bool(one.clear) or one.verdict in _DIFFERS
