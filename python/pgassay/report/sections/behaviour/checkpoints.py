"""Throughput around the start of a checkpoint, and what a checkpoint costs.

Enters: the context. Leaves: sentences, a chart, a table. Never: computes an estimate.
"""

from __future__ import annotations

import math

from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.wording import count, plain_number
from pgassay.report.charts.checkpoints import checkpoints_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.section import Content, section
from pgassay.report.tables.cells import ABSENT, between
from pgassay.report.tables.table import Column, Table, table

_COLUMNS = (
    Column("Arm", "heading"),
    Column("Checkpoints", "text"),
    *map(
        Column,
        (
            "Depth",
            "Recovered after",
            "Below half depth for",
            "Transactions lost by each",
            "Full-page images after each",
        ),
    ),
)


@section("behaviour/checkpoints", "Around a checkpoint")
def checkpoints(context: ReportContext) -> Content | None:
    """A run in which a checkpoint began inside a trial."""
    if not context.analysis.checkpoint_effects:
        return None
    return {
        "sentences": context.sentences("checkpoints"),
        "chart": checkpoints_chart(context.analysis, arm_styles(context.plan.arms)),
        "checkpoints": checkpoint_table(context),
    }


def checkpoint_table(context: ReportContext) -> Table:
    """Every arm that had a checkpoint."""
    names = context.labels
    rows = []
    for effect in context.analysis.checkpoint_effects:
        if effect.refused:
            rows.append((names[effect.arm], effect.refused, *[ABSENT] * 5))
            continue
        rows.append(
            (
                names[effect.arm],
                f"{effect.checkpoints} in {effect.trials} trials",
                _with_unit(effect.depth_pct, "%"),
                _with_unit(effect.recovery_s, "s"),
                _with_unit(effect.duration_s, "s"),
                _counted(effect.lost_transactions),
                _counted(effect.full_page_images),
            )
        )
    found = table(_COLUMNS, rows)
    if all(effect.refused for effect in context.analysis.checkpoint_effects):
        return found.without(*(column.title for column in _COLUMNS[2:]))
    return found


def _with_unit(estimate: Estimate | None, unit: str) -> str:
    if estimate is None:
        return ABSENT
    if not math.isfinite(estimate.value):
        return "not within the window"
    return f"{plain_number(estimate.value)} {unit}{between(estimate)}"


def _counted(estimate: Estimate | None) -> str:
    if estimate is None:
        return ABSENT
    if estimate.low is None or estimate.high is None:
        return count(estimate.value)
    return f"{count(estimate.value)} ({count(estimate.low)} to {count(estimate.high)})"
