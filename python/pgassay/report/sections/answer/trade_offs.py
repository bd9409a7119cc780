"""Levels weighed by several criteria, where these disagree or levels are three or more.

Enters: the context. Leaves: a table and sentences for each factor. Never: weighs criteria.
"""

from __future__ import annotations

from pgassay.findings.answer.trade_offs import rule_of
from pgassay.report.context import ReportContext
from pgassay.report.section import Content, section
from pgassay.report.tables.trade_offs import trade_off_table


@section("answer/trade_offs", "Trade-offs")
def trade_offs(context: ReportContext) -> Content | None:
    """The section is left out where there is nothing to weigh."""
    shown = [one for one in context.analysis.trade_offs if one.matters]
    factors = [(one.factor, trade_off_table(one), context.sentences(rule_of(one))) for one in shown]
    return {"factors": factors} if factors else None
