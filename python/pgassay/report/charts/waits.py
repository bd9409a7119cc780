"""Where a transaction's time goes.

Enters: the arms' means. Leaves: a stacked bar per arm. Never: samples or classifies waits.
"""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from pgassay.analysis.model import Analysis, ArmSummary
from pgassay.analysis.reading.metrics import METRICS, TIME_PARTS, WAIT_CLASSES, WaitClass
from pgassay.findings.wording import quantity
from pgassay.report.charts.style import (
    CLASS_COLOURS,
    GREY,
    ArmStyle,
    axis,
    new_figure,
    note,
    plain,
)

_ROW_PX = 66


def waits_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> go.Figure | None:
    """The chart, or None where no wait was sampled."""
    classes = present_classes(analysis)
    if not classes:
        return None
    arms = analysis.arms
    figure = new_figure(
        len(arms) * _ROW_PX + 62, barmode="stack", uniformtext={"mode": "hide", "minsize": 11}
    )
    rows = list(range(len(arms)))
    for wait_class in classes:
        metric = METRICS[wait_class.metric]
        values = [mean_of(arm, wait_class) for arm in arms]
        figure.add_bar(
            x=[round(value, 6) for value in values],
            y=rows,
            orientation="h",
            width=0.42,
            marker={"color": CLASS_COLOURS.get(wait_class.name, GREY), "line": {"width": 0}},
            text=[f"{value:.{metric.digits}f}" for value in values],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            name=wait_class.title,
            customdata=[
                f"{plain(wait_class.title)}: {quantity(value, metric)} per transaction"
                f"<br>{plain(arm.label)}"
                for arm, value in zip(arms, values, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    for row, arm in enumerate(arms):
        figure.add_annotation(
            note(
                plain(styles[arm.id].short),
                xref="paper",
                x=0,
                xanchor="left",
                y=row,
                yanchor="bottom",
                xshift=-2,
                yshift=15,
            )
        )
    figure.update_layout(
        xaxis=axis("milliseconds per transaction", rangemode="tozero"),
        yaxis={"range": [len(arms) - 0.6, -0.62], "visible": False, "fixedrange": True},
    )
    return figure


def present_classes(analysis: Analysis) -> list[WaitClass]:
    """Parts of a transaction's time that any arm has."""
    present = [part for part in TIME_PARTS if any(mean_of(arm, part) for arm in analysis.arms)]
    return present if any(part in WAIT_CLASSES for part in present) else []


def mean_of(arm: ArmSummary, wait_class: WaitClass) -> float:
    """Milliseconds per transaction."""
    return arm.means.get(wait_class.metric, 0.0)
