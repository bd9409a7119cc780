"""The slices of a load: its variants arm by arm, and whether an effect outlasts its slice.

Enters: the context. Leaves: a chart of the rounds, and tables.
Never: compares variants, or tests for carry-over itself.
"""

from __future__ import annotations

from pgassay.analysis.reading.metrics import METRICS
from pgassay.language import Message, decimals, tr
from pgassay.quantities import signed_percent
from pgassay.report.charts.effects.rounds import rounds_chart
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Column, numbers, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, interval, measured, whole

sentence = texts_of(__name__)

_CARRY_OVER = (
    Column(Message("Effect of"), "text"),
    Column(Message("Carry-over test"), "text"),
    *numbers("First", "Second", "Difference", "95\u00a0% interval", "p"),
    Column(Message("Result"), "text"),
)
_VARIANTS = (
    Column(Message("Arm"), "line", merges=True),
    Column(Message("Variant"), "heading"),
    *numbers("Throughput", "Mean latency", "Transactions", "Crossing a slice edge", "Slices"),
)


@section("record/carry_over", "Slice by slice")
def carry_over(context: ReportContext) -> Blocks:
    """A switchback."""
    rows = [
        (
            f"{test.factor} = {test.level}",
            tr(test.test.value),
            signed_percent(test.first_pct),
            signed_percent(test.second_pct),
            signed_percent(test.difference_pct),
            interval(test.ci95_pct),
            ABSENT if test.p is None else decimals(test.p, ".2g"),
            tr("withdraws the verdict")
            if test.outweighs
            else tr("found")
            if test.found
            else tr("none found"),
        )
        for test in context.analysis.answer.carry_over
    ]
    if not rows:
        return
    if chart := rounds_chart(context.analysis):
        caption = sentence("the_arms_alternate_inside")
        label = tr("The effect in every round of slices, in the order of time")
        yield Chart("rounds", chart, label, caption)
    yield table(_CARRY_OVER, rows)
    yield note(sentence("an_effect_that_outlasts"))


@section("record/variants", "Variants of the load’s slices")
def variants(context: ReportContext) -> Blocks:
    """A load with slices."""
    names = context.labels
    order = list(names)
    rows = [
        (
            names[one.arm],
            one.variant,
            measured(one.tps, METRICS["tps"]),
            measured(one.latency_mean_ms, METRICS["latency_mean"]),
            whole(one.transactions),
            whole(one.crossing),
            str(one.slices),
        )
        for one in sorted(context.analysis.answer.variants, key=lambda one: order.index(one.arm))
    ]
    if not rows:
        return
    found = table(_VARIANTS, rows)
    yield found if len(context.analysis.answer.arms) > 1 else found.without("Arm")
    yield note(sentence("a_transaction_is_counted"))
