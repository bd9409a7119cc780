"""Throughput, second by second.

Enters: the trials' series. Leaves: a chart with a thin line per trial, a thick one per arm, the
warm-up shaded and checkpoints as ticks above. Never: smooths; of long runs every n-th second is
drawn (`thinning`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pgassay.analysis.measures.courses.chart_series import ChartSeries, mean_by_second
from pgassay.plan.model import Plan
from pgassay.report.charts.style import (
    ArmStyle,
    axis,
    mark,
    new_figure,
    note,
    plain,
    shade,
    translucent,
)

_MOST_POINTS = 20_000
"""Points of thin lines that a browser draws quickly."""
_RUG_PX = 72
"""The greatest height of all rows of checkpoints."""
_PLOT_PX = 330
_LABELLED_STEPS = 3
"""Up to so many steps the word "clients" fits beside each number."""


def throughput_chart(
    series: Sequence[ChartSeries], plan: Plan, styles: Mapping[str, ArmStyle]
) -> go.Figure | None:
    """The chart, or None where no trial has a second."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    if not drawn:
        return None
    arms = [arm.id for arm in plan.arms if any(trial.arm == arm.id for trial in drawn)]
    marked = [a for a in arms if any(t.arm == a and t.checkpoints_s for t in drawn)]
    rug_px = _rug_row_px(marked) * len(marked) + 10 if marked else 0
    figure = new_figure(_PLOT_PX + rug_px + 60)
    top = _PLOT_PX / (_PLOT_PX + rug_px)
    _shade(figure, drawn, plan, top)
    _draw_trials(figure, drawn, styles)
    _draw_means(figure, drawn, arms, styles)
    if marked:
        _draw_checkpoints(figure, drawn, marked, styles)
        figure.update_layout(
            yaxis2={
                "domain": [top + 0.02, 1],
                "range": [len(marked) - 0.5, -0.5],
                "visible": False,
                "fixedrange": True,
            }
        )
    figure.update_layout(
        xaxis=axis("seconds since the measurement began", range=_extent(drawn), anchor="y"),
        yaxis=axis("transactions per second", domain=[0, top]),
    )
    return figure


def thinning(series: Sequence[ChartSeries]) -> int:
    """Every which second of a trial is drawn; 1 is all."""
    return 1 + sum(len(trial.offset_s) for trial in series) // _MOST_POINTS


def _draw_trials(
    figure: go.Figure, series: Sequence[ChartSeries], styles: Mapping[str, ArmStyle]
) -> None:
    every = thinning(series)
    opacity = 0.45 if len(series) <= 12 else 0.3
    for trial in series:
        style = styles[trial.arm]
        figure.add_scatter(
            x=[round(offset, 2) for offset in trial.offset_s[::every]],
            y=[round(tps, 1) for tps in trial.tps[::every]],
            mode="lines",
            line={"color": translucent(style.colour, opacity), "width": 1},
            legendgroup=trial.arm,
            name=f"trial {trial.number}",
            meta=[f"trial {trial.number}, block {trial.block}<br>{plain(style.label)}"],
            hovertemplate="%{y:,.0f} tps at %{x:.0f} s<br>%{meta[0]}<extra></extra>",
        )


def _draw_means(
    figure: go.Figure,
    series: Sequence[ChartSeries],
    arms: Sequence[str],
    styles: Mapping[str, ArmStyle],
) -> None:
    for arm in arms:
        style = styles[arm]
        points = mean_by_second(series, arm)[:: thinning(series)]
        figure.add_scatter(
            x=[second for second, _ in points],
            y=[round(tps, 1) for _, tps in points],
            mode="lines",
            line={"color": style.colour, "width": 3, "dash": style.dash},
            legendgroup=arm,
            name="mean",
            meta=[f"mean of {plain(style.label)}"],
            hovertemplate="%{y:,.0f} tps at %{x:.0f} s<br>%{meta[0]}<extra></extra>",
        )


def _draw_checkpoints(
    figure: go.Figure,
    series: Sequence[ChartSeries],
    arms: Sequence[str],
    styles: Mapping[str, ArmStyle],
) -> None:
    for row, arm in enumerate(arms):
        marks = [
            (start, f"checkpoint ({plain(cause)}), {_span(start, end)}<br>trial {trial.number}")
            for trial in series
            if trial.arm == arm
            for start, end, cause in trial.checkpoints_s
        ]
        figure.add_scatter(
            x=[round(start, 2) for start, _ in marks],
            y=[row] * len(marks),
            yaxis="y2",
            mode="markers",
            marker={
                "symbol": "line-ns",
                "size": _rug_row_px(arms) - 4,
                "line": {"color": styles[arm].colour, "width": 1.5},
            },
            legendgroup=arm,
            name="checkpoints",
            customdata=[text for _, text in marks],
            hovertemplate="%{customdata}<extra></extra>",
        )


def _rug_row_px(arms: Sequence[str]) -> int:
    return min(15, max(7, _RUG_PX // len(arms)))


def _span(start: float, end: float | None) -> str:
    return f"{start:.1f} s, end unknown" if end is None else f"{start:.1f} to {end:.1f} s"


def _shade(figure: go.Figure, series: Sequence[ChartSeries], plan: Plan, top: float) -> None:
    first = min(trial.offset_s[0] for trial in series)
    if first < 0:
        shade(figure, first, 0, top)
        figure.add_annotation(
            note("warm-up", x=first, xanchor="left", y=0, yref="paper", yanchor="bottom", xshift=3)
        )
    measured = [step for step in plan.steps if step.measured]
    levels = plan.step_levels()
    begin = 0.0
    # Shuffled steps begin at other times in every block, so they cannot be labelled.
    are_labelled = len(measured) > 1 and plan.order == "ordered"
    for index, step in enumerate(measured if are_labelled else ()):
        few = len(measured) <= _LABELLED_STEPS or index == 0
        text = f"{levels[index]:g} {plan.step_unit}" if few else f"{levels[index]:g}"
        mark(figure, begin, top)
        figure.add_annotation(
            note(text, x=begin, xanchor="left", y=top, yref="paper", yanchor="top", xshift=3)
        )
        begin += step.duration_s


def _extent(series: Sequence[ChartSeries]) -> tuple[float, float]:
    first = min(trial.offset_s[0] for trial in series)
    last = max(trial.offset_s[-1] for trial in series)
    room = 0.01 * (last - first) or 0.5
    return first - room, last + room
