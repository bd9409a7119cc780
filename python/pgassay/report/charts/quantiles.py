"""How much each quantile of latency differs.

Enters: the shift functions of whole trials. Leaves: a chart with a line and a band per level.
Never: computes a shift.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pgassay.analysis.model import Analysis
from pgassay.analysis.statistics.values import Interval
from pgassay.findings.wording import signed_percent
from pgassay.report.charts.style import (
    BAND,
    INK,
    axis,
    level_colour,
    new_figure,
    plain,
    translucent,
)

_PLOT_PX = 300


def quantiles_chart(analysis: Analysis) -> go.Figure | None:
    """The chart, or None where no latency was compared."""
    shifts = [shift for shift in analysis.quantile_shifts if shift.step is None]
    if not shifts:
        return None
    figure = new_figure(_PLOT_PX + 70)
    places = list(range(len(shifts[0].shares)))
    margin = 100 * analysis.smallest_effect
    zero_and_margin(figure, margin)
    for index, shift in enumerate(shifts):
        draw_with_band(
            figure,
            places,
            shift.shift_pct,
            shift.band95_pct,
            level_colour(index),
            [
                f"{plain(shift.factor)} = {plain(shift.level)}, {100 * share:g} % of latencies:"
                f"<br>{base:.3f} ms → {level:.3f} ms ({signed_percent(effect)})"
                for share, base, level, effect in zip(
                    shift.shares, shift.baseline_ms, shift.level_ms, shift.shift_pct, strict=True
                )
            ],
            f"{plain(shift.factor)} = {plain(shift.level)}",
        )
    name_lines(figure, [shift.factor for shift in shifts])
    what = "response time" if shifts[0].of == "response" else "latency"
    figure.update_layout(
        xaxis=axis(
            f"quantile of {what}: fast transactions to the left, slow to the right",
            tickvals=places,
            ticktext=[f"{100 * share:g}" for share in shifts[0].shares],
            ticksuffix=" %",
        ),
        yaxis=axis(f"change of {what} (↓ better)", ticksuffix=" %"),
    )
    return figure


def name_lines(figure: go.Figure, factors: Sequence[str]) -> None:
    """A key where levels of several factors share a chart, where arms' colours do not apply."""
    if len(set(factors)) > 1:
        key = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
        figure.update_layout(showlegend=True, legend=key, margin={"t": 40})


def zero_and_margin(figure: go.Figure, margin: float) -> None:
    """The line of no difference, and the band of differences too small to matter."""
    wide = {"xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
    figure.add_shape(type="rect", y0=-margin, y1=margin, fillcolor=BAND, line={"width": 0}, **wide)
    figure.add_shape(type="line", y0=0, y1=0, line={"color": INK, "width": 1.2}, **wide)


def draw_with_band(
    figure: go.Figure,
    places: Sequence[float],
    values: Sequence[float],
    bands: Sequence[Interval | None],
    colour: str,
    words: Sequence[str],
    name: str = "",
    **line: object,
) -> None:
    """A line through points, its band behind it where there is one; `name` is for the key."""
    known = [(x, band) for x, band in zip(places, bands, strict=True) if band is not None]
    if known:
        around = [(x, high) for x, (_, high) in known] + [(x, low) for x, (low, _) in known[::-1]]
        figure.add_scatter(
            x=[x for x, _ in around],
            y=[round(y, 3) for _, y in around],
            fill="toself",
            fillcolor=translucent(colour, 0.18),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            **line,
        )
    figure.add_scatter(
        x=list(places),
        y=[round(value, 3) for value in values],
        mode="lines+markers",
        line={"color": colour, "width": 2.5},
        marker={"color": colour, "size": 6},
        customdata=list(words),
        hovertemplate="%{customdata}<extra></extra>",
        name=name,
        **line,
    )
