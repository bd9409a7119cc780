"""The USE, RED and LTES tables.

Enters: the context. Leaves: one table for each method. Never: judges a figure by a threshold.
"""

from __future__ import annotations

from pgassay.report.context import ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.tables.methods import method_table, not_measured


@section("behaviour/methods", "Service, scenarios and resources: LTES, RED, USE")
def methods(context: ReportContext) -> Content | None:
    """A run whose trials have one arm each."""
    if not context.analysis.methods:
        return None
    return {
        "service": method_table(context, "ltes"),
        "scenarios": method_table(context, "red"),
        "resources": method_table(context, "use"),
        "not_measured": not_measured(context),
        "compared": any(f.clear for one in context.analysis.methods for f in one.figures),
    }
