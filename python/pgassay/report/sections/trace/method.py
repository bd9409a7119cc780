"""How a server was traced, what that cost, and what is missing.

Enters: the context. Leaves: sentences. Never: computes.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.language import colon, tr
from pgassay.report.context import TraceContext
from pgassay.report.document.blocks import Items
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.text import Inline, texts_of
from pgassay.report.summaries import trace as trace_summary
from pgassay.trials.trace.programs import meaning

sentence = texts_of(__name__)


@section("trace/caveats", "Caveats")
def caveats(context: TraceContext) -> Blocks:
    """Lists what is missing, lost or doubtful."""
    yield Items(trace_summary.caveats(context))


@section("trace/method", "Method")
def method(context: TraceContext) -> Blocks:
    """Says how the points were traced, what each means, and what the probes cost."""
    yield summed_up("report/sections/observing")
    yield Items([*_method(context)], "method")


def _method(context: TraceContext) -> Iterator[Inline]:
    for words, points in trace_summary.ways(context):
        yield tr("By probes on {words}: {points}.", words=words, points=points)
    for point in dict.fromkeys(one.point for one in context.traced.points):
        yield f"{trace_summary.point_name(point, '')}{colon()}{meaning(point)}."
    yield sentence("probes_lie_in_the", program=context.described.program)
    yield tr("Cost: {cost}.", cost=trace_summary.cost_text(context))
    yield sentence.marked("a_trace_describes_to")
