"""Caveats about the measurement, where it ran, how it was done, and how to repeat it.

Enters: the context. Leaves: titles, texts, names and values.
Never: judges, reads a file, or relies on a key of environment.json.
"""

from __future__ import annotations

from pgassay.language import Message, tr
from pgassay.notes import Importance
from pgassay.plan.description import EXCHANGE, combinations_line, plots_line
from pgassay.report.context import ObservationContext, ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.environment import environment_lists
from pgassay.report.sections.record.settings import settings_table
from pgassay.report.summaries.caveats import caveats_of


@section("record/caveats", "Caveats")
def caveats(context: ReportContext) -> Content | None:
    """A run with any caveat: those that could change the verdict first."""
    groups = caveats_of(context)
    return {"groups": groups, "titles": _IMPORTANCE} if groups else None


_IMPORTANCE = {
    Importance.VERDICT: Message("Could change the verdict"),
    Importance.SIZE: Message("Could change the size of the effect, or what it holds for"),
    Importance.DETAIL: Message("Cannot change the result"),
}


@section("record/environment", "Where it ran")
def environment(context: ReportContext | ObservationContext) -> Content | None:
    """Whatever was stored."""
    lists = environment_lists(context.environment)
    settings = settings_table(context) if isinstance(context, ReportContext) else None
    return {"lists": lists, "settings": settings} if lists else None


@section("record/method", "Method, and how to repeat the run")
def method(context: ReportContext) -> Content:
    """How the run was designed and analysed, and how to repeat it."""
    plan, analysis = context.plan, context.analysis
    several = len(plan.factors) > 1
    lines = (
        tr("Arms: {combinations}.", combinations=combinations_line(plan)) if several else "",
        tr("Randomisation: {plots}.", plots=plots_line(plan))
        if several and plan.plots_reason
        else "",
        tr("Directories: {exchange}.", exchange=EXCHANGE) if plan.exchanges_directories else "",
    )
    return {
        "design_lines": [line for line in lines if line],
        "interval": analysis.interval.value,
        "unit": tr("round", context="of differences")
        if plan.alternates and not plan.side_by_side
        else tr("block", context="of differences"),
    }
