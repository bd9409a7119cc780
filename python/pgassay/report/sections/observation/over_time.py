"""The observation over time: commits, how far a standby is behind, the host.

Enters: the context. Leaves: charts, and a table of the host's figures.
Never: joins a line over a gap, draws a lag that is not known, or shows an unread figure as zero.
"""

from __future__ import annotations

from pgassay.language import Message, clauses, tr
from pgassay.report.charts.over_time.observed import (
    disks_chart,
    processors_chart,
    standby_chart,
    throughput_chart,
)
from pgassay.report.context import ObservationContext
from pgassay.report.document.blocks import Chart, Fold, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import texts_of
from pgassay.report.tables.infrastructure import observed_host_table

sentence = texts_of(__name__)

_FROM = {
    "counters": Message(" (from the server’s counters, to a second)"),
    "both": Message(" (some from the server’s counters alone, to a second)"),
}


@section("observation/throughput", "Commits per second")
def throughput(context: ObservationContext) -> Blocks:
    """Shows commits over time; says so where the server's counters were not read."""
    chart = throughput_chart(context.observed)
    if chart is None:
        yield Paragraph(tr("The server’s counters were not read."))
        return
    caption = sentence(
        "all_databases_without_the",
        checkpoints_from=_FROM.get(context.observed.checkpoints_from, ""),
    )
    yield Chart("throughput", chart, tr("Commits per second over the time observed"), caption)


@section("observation/standby", "Behind the primary")
def standby(context: ObservationContext) -> Blocks:
    """Shows how far a standby was behind, where that is known at any time."""
    if chart := standby_chart(context.observed):
        caption = sentence("0_when_everything_that")
        yield Chart("standby", chart, tr("Age of the last replayed commit"), caption)


@section("observation/host", "Host, WAL and disks")
def host(context: ObservationContext) -> Blocks:
    """Shows the host's processors and disks and the WAL, in so far as they were read."""
    observed = context.observed
    if chart := processors_chart(observed):
        caption = sentence("the_share_of_time")
        yield Chart("processors", chart, tr("Processors of the host"), _with_gaps(caption))
    if chart := disks_chart(observed):
        caption = tr("What the host’s disks read and wrote, and how much WAL the server made.")
        yield Chart("disks", chart, tr("Disks and WAL"), _with_gaps(caption))
    shown, zero = observed_host_table(context).without_zeros()
    if shown:
        names = clauses(f"{one[1]} ({one[0]})" for one in zero)
        throughout = note(tr("Zero throughout: {names}.", names=names)) if names else None
        means = note(sentence.marked("median_of_the_intervals"))
        yield Fold(tr("The numbers"), [shown, throughout, means], in_text=True)


def _with_gaps(caption: str) -> str:
    return tr("{caption} In shaded times nothing was sampled.", caption=caption)
