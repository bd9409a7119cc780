"""The slices of a load: its variants arm by arm, and whether an effect outlasts its slice.

Enters: the context. Leaves: a chart of the rounds, and tables.
Never: compares variants, or tests for carry-over itself.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import CarryOver
from pgassay.analysis.reading.metrics import METRICS
from pgassay.language import decimals, tr
from pgassay.report.charts.effects.rounds import rounds_chart
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import column, view
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import (
    ABSENT,
    interval_column,
    measured,
    percent_column,
    subject,
    whole,
    written,
)

sentence = texts_of(__name__)

_CARRY_OVER = (
    column("level", "Effect of", subject, "text"),
    column("test", "Carry-over test", lambda one: tr(one.test.value), "text"),
    percent_column("first_pct", "First"),
    percent_column("second_pct", "Second"),
    percent_column("difference_pct", "Difference"),
    interval_column("ci95_pct", of="difference_pct"),
    column("p", "p", lambda one: ABSENT if one.p is None else decimals(one.p, ".2g")),
    column("found", "Result", lambda one: _result(one), "text"),
)


@section("record/carry_over", "Slice by slice")
def carry_over(context: ReportContext) -> Blocks:
    """Shows whether effects of a switchback's slices outlast their slice."""
    found = context.analysis.answer.carry_over
    if not found:
        return
    outlast = sum(one.found for one in found)
    yield summed_up("report/sections/carry-over", unusual=outlast, n=len(found), found=outlast)
    if chart := rounds_chart(context.analysis):
        caption = sentence("the_arms_alternate_inside")
        label = tr("The effect in every round of slices, in the order of time")
        yield Chart("rounds", chart, label, caption)
    yield view(_CARRY_OVER, found)
    yield note(sentence("an_effect_that_outlasts"))


def _result(test: CarryOver) -> str:
    if test.outweighs:
        return tr("withdraws the verdict")
    return tr("found") if test.found else tr("none found")


@section("record/variants", "Variants of the load’s slices")
def variants(context: ReportContext) -> Blocks:
    """Shows the figures of each variant of a load with slices."""
    names = context.labels
    order = list(names)
    found = sorted(context.analysis.answer.variants, key=lambda one: order.index(one.arm))
    columns = (
        column("arm", "Arm", lambda one: names[one.arm], "line", merges=True),
        written("variant", "Variant", str, "heading"),
        column("tps", "Throughput", lambda one: measured(one.tps, METRICS["tps"])),
        column(
            "latency_mean_ms",
            "Mean latency",
            lambda one: measured(one.latency_mean_ms, METRICS["latency_mean"]),
        ),
        written("transactions", "Transactions", whole),
        written("crossing", "Crossing a slice edge", whole),
        written("slices", "Slices"),
    )
    if found:
        yield summed_up("report/sections/variants", n=len({one.variant for one in found}))
        yield view(columns, found).only_if(arm=len(context.analysis.answer.arms) > 1)
        yield note(sentence("a_transaction_is_counted"))
