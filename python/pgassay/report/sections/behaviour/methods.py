"""The USE, RED and LTES tables.

Enters: the context. Leaves: one table for each method. Never: judges a figure by a threshold.
"""

from __future__ import annotations

from pgassay.language import colon, listed, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Heading, Items, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import texts_of
from pgassay.report.tables.methods import method_table, not_measured

sentence = texts_of(__name__)


@section("behaviour/methods", "Service, scenarios and resources: LTES, RED, USE")
def methods(context: ReportContext) -> Blocks:
    """Shows a table of each method; yields nothing where arms alternate within trials."""
    if not context.analysis.explanation.methods:
        return
    yield Heading(tr("LTES: latency, traffic, errors and saturation of the service"))
    yield method_table(context, "ltes")
    if context.plan.factors:
        yield note(sentence("these_means_are_arithmetic"))
    if scenarios := method_table(context, "red"):
        yield Heading(tr("RED: rate, errors and duration of each scenario"))
        yield scenarios
    summary = tr("USE: utilisation, saturation and errors of each resource")
    yield Fold(summary, [method_table(context, "use")], is_open=True, in_text=True)
    if reasons := not_measured(context):
        texts = [f"{why}{colon()}{listed(names)}" for why, names in reasons]
        yield Fold(tr("Not measured, and why"), [Items(texts)], in_text=True)
    yield _what_they_are(context)


def _what_they_are(context: ReportContext) -> Paragraph:
    compared = any(f.clear for one in context.analysis.explanation.methods for f in one.figures)
    return note(
        tr("Means of the trials."),
        sentence("a_second_line_is")
        if compared
        else len(context.plan.arms) > 1 and tr("No figure differs clearly from the first column."),
        sentence("no_figure_is_judged"),
    )
