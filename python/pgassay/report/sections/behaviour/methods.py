"""The USE, RED and LTES tables.

Enters: the context. Leaves: one table for each method. Never: judges a figure by a threshold.
"""

from __future__ import annotations

from pgassay.language import colon, listed, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Heading, Items, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.tables.methods import method_table, not_measured


@section("behaviour/methods", "Service, scenarios and resources: LTES, RED, USE")
def methods(context: ReportContext) -> Blocks:
    """Shows a table of each method; yields nothing where arms alternate within trials."""
    if not context.analysis.methods:
        return
    yield Heading(tr("LTES: latency, traffic, errors and saturation of the service"))
    yield method_table(context, "ltes")
    if context.plan.factors:
        yield note(
            tr(
                "These means are arithmetic, over trials; those of the verdicts are over blocks, "
                "and geometric where the change is a ratio, so they differ a little."
            )
        )
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
    compared = any(f.clear for one in context.analysis.methods for f in one.figures)
    return note(
        tr("Means of the trials."),
        tr(
            "A second line is the change from the first column with its 95 % interval; it stands "
            "only where the change is clear after correction for all cells of all arms "
            "(Benjamini–Yekutieli), or where the figure has a verdict of its own that says so."
        )
        if compared
        else len(context.plan.arms) > 1 and tr("No figure differs clearly from the first column."),
        tr(
            "No figure is judged by a fixed threshold: read a resource as saturated where its "
            "saturation grows with the load or between arms. PSI is pressure stall information, "
            "the share of the time in which work stood still. Time with a request in progress says "
            "little of a disk that serves many requests at once, such as NVMe. Figures of the host "
            "include every program on it."
        ),
    )
