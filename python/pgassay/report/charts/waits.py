"""Where a transaction's time goes.

Enters: the arms' means and the trials' wait events. Leaves: a stacked bar per arm, and the rows of
the tables beside it. Never: samples or classifies waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from pgassay.analysis.metrics import METRICS, WAIT_CLASSES, WaitClass
from pgassay.analysis.model import Analysis, ArmSummary
from pgassay.analysis.series import TrialSeries
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
_MOST_EVENTS = 8
_FEWEST_SESSIONS = 0.005
"""Average active sessions below which an event would be shown as zero."""


@dataclass(frozen=True)
class ClassRow:
    """One wait class: its colour in the chart, and its milliseconds in each arm."""

    title: str
    colour: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class EventRow:
    """One wait event, and its average active sessions in each arm."""

    event: str
    values: tuple[str, ...]


def waits_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> go.Figure | None:
    """The chart, or None where no wait was sampled."""
    classes = _present(analysis)
    if not classes:
        return None
    arms = analysis.arms
    figure = new_figure(
        len(arms) * _ROW_PX + 62, barmode="stack", uniformtext={"mode": "hide", "minsize": 11}
    )
    rows = list(range(len(arms)))
    for wait_class in classes:
        metric = METRICS[wait_class.metric]
        values = [_mean(arm, wait_class) for arm in arms]
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


def class_rows(analysis: Analysis) -> tuple[ClassRow, ...]:
    """The chart's legend, with the numbers."""
    return tuple(
        ClassRow(
            wait_class.title,
            CLASS_COLOURS.get(wait_class.name, GREY),
            tuple(
                quantity(_mean(arm, wait_class), METRICS[wait_class.metric])
                for arm in analysis.arms
            ),
        )
        for wait_class in _present(analysis)
    )


def event_rows(analysis: Analysis, series: Sequence[TrialSeries]) -> tuple[EventRow, ...]:
    """The largest wait events of any arm, averaged over its trials."""
    return _largest(analysis, [(trial.arm, trial.events) for trial in series])


def sampled_rows(
    analysis: Analysis, series: Sequence[TrialSeries]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The same as pg_wait_sampling counted them; empty where it is not there."""
    found = [(trial.arm, trial.sampled_waits) for trial in series if trial.sampled_waits]
    return tuple((row.event, row.values) for row in _largest(analysis, found))


def _largest(
    analysis: Analysis, trials: Sequence[tuple[str, Mapping[str, float]]]
) -> tuple[EventRow, ...]:
    by_arm = {arm.id: [events for own, events in trials if own == arm.id] for arm in analysis.arms}
    names = {name for own in by_arm.values() for events in own for name in events}
    means = {
        name: [
            sum(events.get(name, 0.0) for events in own) / max(len(own), 1)
            for own in by_arm.values()
        ]
        for name in names
    }
    ranked = sorted(means.items(), key=lambda item: (-max(item[1]), item[0]))
    return tuple(
        EventRow(name, tuple(f"{value:.2f}" for value in values))
        for name, values in ranked[:_MOST_EVENTS]
        if max(values) >= _FEWEST_SESSIONS
    )


def _present(analysis: Analysis) -> list[WaitClass]:
    return [c for c in WAIT_CLASSES if any(_mean(arm, c) > 0.0 for arm in analysis.arms)]


def _mean(arm: ArmSummary, wait_class: WaitClass) -> float:
    return arm.means.get(wait_class.metric, 0.0)
