"""What else differs between the arms, and what that explains.

Enters: the context. Leaves: sentences, the parts of a transaction's time, costs.
Never: says "because".
"""

from __future__ import annotations

from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.time_parts import DOUBTS
from pgassay.findings.model import FindingKind
from pgassay.language import Message, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Paragraph, note, observed
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Table, column, view
from pgassay.report.document.text import Span, texts_of
from pgassay.report.sections.answer.evidence import evidence
from pgassay.report.tables.cells import CHANGE, MEANS, RESULT, subject
from pgassay.report.tables.time_parts import accounting_table

sentence = texts_of(__name__)

_COLUMNS = (
    column("metric", "Measured", lambda one: METRICS[one.metric].title, "heading"),
    column("level", "Level compared", subject, "group"),
    *MEANS,
    *CHANGE,
    RESULT,
)


@section("answer/why", "Why")
def why(context: ReportContext) -> Blocks:
    """Explanations of a verdict; an A/A run and a single arm have none, and of a set of queries
    each is explained by its plan."""
    if not context.analysis.answer.judged() or context.of_kind(FindingKind.CALIBRATION):
        return
    said = [one for one in context.of_kind(FindingKind.EXPLANATION) if one.comparison is None]
    for one in (one for one in said if one.rule != DOUBTS):
        yield Paragraph(one.text, "pattern", (Span(str(one.title), "bold"),))
        yield from evidence(one)
    accounting, differences = accounting_table(context), difference_table(context)
    yield accounting
    yield from observed(one.text for one in said if one.rule == DOUBTS)
    yield differences
    if accounting or differences:
        yield note(_DIFFERENCES, *(_PARTS if accounting else ()))
    elif context.plan.queries:
        return
    elif context.plan.alternates:
        yield Paragraph(sentence("costs_and_waits_are"))
    else:
        yield Paragraph(tr("No other measured figure differs clearly between the arms."))


_DIFFERENCES = Message(
    "Levels were assigned at random, so these differences are consequences of the factor. That "
    "they cause the verdict is an inference. Costs are listed if they differ after correction for "
    "many comparisons (Benjamini–Yekutieli)."
)
_PARTS = (
    Message(
        "The parts of a transaction’s time sum to the whole; CPU is the kernel’s count of the time "
        "in which sessions ran on a processor, without the server’s other processes. A share is "
        "shown where the whole change is clear."
    ),
    Message(
        "Unaccounted is the time in which no sample finds the session at work: its statement or "
        "answer is on the way, or the session or the client waits for a processor."
    ),
)


def difference_table(context: ReportContext) -> Table:
    """Costs, as the findings rank them."""
    found = context.of_kind(FindingKind.EXPLANATION)
    facts = (one.comparison for one in found if one.comparison is not None)
    return view(_COLUMNS, facts).only_if(level=context.has_several_levels)
