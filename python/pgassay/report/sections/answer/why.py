"""What else differs between the arms, and what that explains.

Enters: the context. Leaves: sentences, the parts of a transaction's time, costs.
Never: says "because".
"""

from __future__ import annotations

from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import FindingKind
from pgassay.language import Message
from pgassay.report.context import ReportContext
from pgassay.report.section import Content, section
from pgassay.report.tables.cells import INTERVAL, change, interval_of, means, result, subject
from pgassay.report.tables.table import Column, Table, table
from pgassay.report.tables.time_parts import accounting_table

_COLUMNS = (
    Column(Message("Measured"), "heading"),
    Column(Message("Level compared"), "group"),
    *map(Column, (Message("Baseline"), Message("Level"), Message("Change"), INTERVAL)),
    Column(Message("Result"), "text"),
)


@section("answer/why", "Why")
def why(context: ReportContext) -> Content | None:
    """Explanations of a verdict; an A/A run and a single arm have none."""
    if not context.analysis.verdicts() or context.of_kind(FindingKind.CALIBRATION):
        return None
    found = context.of_kind(FindingKind.EXPLANATION)
    patterns = {(one.title, one.text): one for one in found if one.comparison is None}
    return {
        "patterns": tuple(patterns.values()),
        "accounting": accounting_table(context),
        "differences": difference_table(context),
    }


def difference_table(context: ReportContext) -> Table:
    """Costs, as the findings rank them."""
    found = context.of_kind(FindingKind.EXPLANATION)
    rows = [
        (
            METRICS[one.metric].title,
            subject(one),
            *means(one),
            change(one),
            interval_of(one),
            result(one),
        )
        for one in (finding.comparison for finding in found)
        if one is not None
    ]
    made = table(_COLUMNS, rows)
    return made if context.has_several_levels else made.without("Level compared")
