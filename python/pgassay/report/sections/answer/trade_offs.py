"""Levels weighed by several criteria, where these disagree or levels are three or more.

Enters: the context. Leaves: a table and sentences for each factor. Never: weighs criteria.
"""

from __future__ import annotations

from pgassay.findings.answer.trade_offs import rule_of
from pgassay.language import tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Heading, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.tables.trade_offs import trade_off_table


@section("answer/trade_offs", "Trade-offs")
def trade_offs(context: ReportContext) -> Blocks:
    """The section is left out where there is nothing to weigh."""
    weighed = [one for one in context.analysis.trade_offs if one.matters]
    for one in weighed:
        yield Heading(one.factor) if len(weighed) > 1 else None
        yield from (Paragraph(text, "observed") for text in context.sentences(rule_of(one)))
        yield trade_off_table(one)
    if weighed:
        yield note(
            tr(
                "Means of the trials, and the change from the first level with its 95 % interval, "
                "corrected as the verdict of the figure is. Colour: clearly better or worse. "
                "“Best” are the levels that are not clearly worse than any other; every pair of "
                "levels is compared. Weighed is only what was measured: not the safety of "
                "committed data, the time of recovery after a crash, or cost."
            )
        )
