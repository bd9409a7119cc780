"""Every figure that was measured: means by arm, log events, the host, all comparisons.

Enters: the context. Leaves: tables. Never: computes an estimate.
"""

from __future__ import annotations

from pgassay.analysis.model import Comparison
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.verdicts.model import ArmSummary
from pgassay.language import Message, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.document.table import Column, Table, table
from pgassay.report.tables.by_arm import arm_table, log_event_table
from pgassay.report.tables.cells import (
    ABSENT,
    ESTIMATE_COLUMNS,
    INTERVAL,
    SIGN_FLIP,
    change,
    estimate_cells,
    interval_of,
    means,
    measured,
    probability,
    result,
    subject,
)
from pgassay.report.tables.host import host_tables_of_run

BY = Message("BY\xa0p")
_COMPARISONS = (
    Column(Message("Measured"), "heading", merges=True),
    Column(Message("Level compared"), "line"),
    Column(Message("Load"), "line"),
    *map(
        Column,
        (
            Message("Baseline"),
            Message("Level"),
            Message("Change"),
            INTERVAL,
            Message("Blocks"),
            SIGN_FLIP,
            BY,
        ),
    ),
    Column(Message("Result"), "text"),
)


@section("record/measured", "Everything measured")
def everything(context: ReportContext) -> Content | None:
    """A run in which any metric was measured."""
    arms = [arm for arm in context.analysis.arms if arm.means]
    if not arms:
        return None
    return {
        "means": _mean_table(context),
        "log_events": log_event_table(context),
        "hosts": host_tables_of_run(context),
        "comparisons": comparison_table(context),
        "left_out": len(context.analysis.comparisons) - len(_large_enough(context)),
        "has_sign_flip": _has_sign_flip(context),
        "arm_effects": _arm_effect_table(context),
    }


def _mean_table(context: ReportContext) -> Table:
    """Of a single arm also their intervals, which no comparison shows."""
    arms = context.analysis.arms
    found = [one for one in METRICS.values() if any(one.name in arm.means for arm in arms)]
    if len(arms) == 1:
        (arm,) = arms
        columns = (
            Column(tr("Mean of the trials"), "heading"),
            Column(Message("Mean")),
            Column(INTERVAL),
        )
        rows = [(one.title, measured(arm.means[one.name], one), _ends(arm, one)) for one in found]
        return table(columns, rows)
    return arm_table(
        context,
        tr("Mean of the trials"),
        [(one.title, [measured(arm.means.get(one.name), one) for arm in arms]) for one in found],
    )


def _ends(arm: ArmSummary, metric: Metric) -> str:
    if metric.name not in arm.intervals:
        return ABSENT
    low, high = (measured(end, metric) for end in arm.intervals[metric.name])
    return tr("{low} to {high}", low=low, high=high)


def comparison_table(context: ReportContext) -> Table:
    """Every metric, level and step."""
    rows = [
        (
            METRICS[one.metric].title,
            subject(one),
            one.load,
            *means(one),
            change(one),
            interval_of(one),
            str(one.blocks),
            probability(one.p_sign_flip),
            probability(one.p_by),
            result(one),
        )
        for one in _large_enough(context)
    ]
    found = table(_COMPARISONS, rows)
    if not _has_sign_flip(context):
        found = found.without(SIGN_FLIP)
    if not context.has_several_levels:
        found = found.without("Level compared")
    return found if context.has_several_steps else found.without("Load")


def _large_enough(context: ReportContext) -> list[Comparison]:
    """Without differences below their metric's floor: per cent of nearly nothing."""
    return [
        one
        for one in context.analysis.comparisons
        if one.metric == context.analysis.metric or abs(one.difference) >= METRICS[one.metric].floor
    ]


def _has_sign_flip(context: ReportContext) -> bool:
    """Only a run with a fixed number of blocks has it."""
    return any(one.p_sign_flip is not None for one in context.analysis.comparisons)


def _arm_effect_table(context: ReportContext) -> Table:
    """Every arm against the arm that has all baselines."""
    names = context.labels
    return table(
        (Column(Message("Arm"), "heading"), *ESTIMATE_COLUMNS),
        [
            (names[effect.arm], *estimate_cells(effect.estimate))
            for effect in context.analysis.arm_effects
        ],
    )
