"""The primary metric of every trial, in the order they ran.

Enters: the trials' measures. Leaves: a chart, every other block shaded: it shows drift and the
random order. Never: fits a trend.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import plotly.graph_objects as go

from pgassay.analysis.model import Analysis, TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import quantity
from pgassay.report.charts.style import (
    ArmStyle,
    axis,
    new_figure,
    plain,
    shade_blocks,
    translucent,
)

_HEIGHT_PX = 300


def trial_order_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> go.Figure | None:
    """The chart, or None where no trial has a value."""
    metric = METRICS[analysis.metric]
    trials = [t for t in analysis.trials if t.arm in styles and _value(t, metric.name) is not None]
    if not trials:
        return None
    # A repeated trial has a number beyond the plan's last, so numbers have gaps.
    places = {trial.number: place for place, trial in enumerate(trials, start=1)}
    figure = new_figure(_HEIGHT_PX)
    for arm, style in styles.items():
        own = [trial for trial in trials if trial.arm == arm]
        values = [trial.whole.values[metric.name] for trial in own]
        figure.add_scatter(
            x=[places[trial.number] for trial in own],
            y=[round(value, 6) for value in values],
            mode="lines+markers",
            line={"color": translucent(style.colour, 0.35), "width": 1.2},
            marker={"color": style.colour, "size": 9, "symbol": style.symbol},
            legendgroup=arm,
            customdata=[
                f"{quantity(value, metric)}<br>trial {trial.number}, block {trial.block},"
                f" position {trial.position}<br>{plain(style.label)}"
                for trial, value in zip(own, values, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    middles = shade_blocks(figure, [trial.block for trial in trials])
    every = 1 + len(middles) // 16
    shown = list(middles.items())[::every]
    figure.update_layout(
        xaxis=axis(
            "block" if len(styles) > 1 else "trial",
            tickvals=[middle for _, middle in shown],
            ticktext=[str(block) for block, _ in shown],
            showgrid=False,
            range=[0.4, len(trials) + 0.6],
        ),
        yaxis=axis(f"{metric.title.lower()}{f', {metric.unit}' if metric.unit else ''}"),
    )
    return figure


def _value(trial: TrialMeasures, metric: str) -> float | None:
    value = trial.whole.values.get(metric)
    return value if value is not None and math.isfinite(value) else None
