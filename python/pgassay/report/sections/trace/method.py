"""How a server was traced, what that cost, and what is missing.

Enters: the context. Leaves: sentences. Never: computes.
"""

from __future__ import annotations

from pgassay.report.context import TraceContext
from pgassay.report.document.section import Content, section
from pgassay.report.summaries import trace as trace_summary
from pgassay.trials.trace.points import meaning


@section("trace/caveats", "Caveats")
def caveats(context: TraceContext) -> Content | None:
    """A trace with any caveat."""
    found = trace_summary.caveats(context)
    return {"caveats": found} if found else None


@section("trace/method", "Method")
def method(context: TraceContext) -> Content:
    """All traces have the section."""
    met = dict.fromkeys(one.point for one in context.traced.points)
    return {
        "meanings": [(trace_summary.point_name(point, ""), meaning(point)) for point in met],
        "ways": trace_summary.ways(context),
        "cost": trace_summary.cost_text(context),
        "program": context.described["program"],
    }
