"""Levels weighed by several criteria, where these disagree or levels are three or more.

Enters: the context. Leaves: a table and sentences for each factor. Never: weighs criteria.
"""

from __future__ import annotations

from pgassay.findings.answer.trade_offs import rule_of
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Heading, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import texts_of
from pgassay.report.tables.trade_offs import trade_off_table

sentence = texts_of(__name__)


@section("answer/trade_offs", "Trade-offs")
def trade_offs(context: ReportContext) -> Blocks:
    """The section is left out where there is nothing to weigh."""
    weighed = [one for one in context.analysis.answer.trade_offs if one.matters]
    for one in weighed:
        yield Heading(one.factor) if len(weighed) > 1 else None
        yield from (Paragraph(text, "observed") for text in context.sentences(rule_of(one)))
        yield trade_off_table(one)
    if weighed:
        yield note(sentence("means_of_the_trials"))
