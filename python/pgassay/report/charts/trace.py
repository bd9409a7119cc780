"""A trace over time.

Enters: what was traced. Leaves: charts on one time axis in UTC, checkpoints shaded, None where
there is nothing to draw. Never: sums or averages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pgassay.analysis.trace.histograms import upper_us
from pgassay.analysis.trace.model import PointCourse, TraceSummary
from pgassay.report.charts.observed import moment
from pgassay.report.charts.style import (
    BAND,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    axis,
    new_figure,
    plain,
    shade,
    translucent,
)

_COLOURS = (VERMILLION, BLUE, GREEN, ORANGE, PURPLE, SKY, GREY)
MOST_LINES = len(_COLOURS)
_HEIGHT_PX = 300
_LEGEND_PX = 52
_SYNC = translucent(ORANGE, 0.25)


def throughput_chart(traced: TraceSummary) -> go.Figure | None:
    """Transactions per second."""
    if not any(value for value in traced.tps_course):
        return None
    figure = _figure(traced, yaxis=axis("transactions per second", rangemode="tozero"))
    figure.add_scatter(
        x=_times(traced),
        y=[None if value is None else round(value, 1) for value in traced.tps_course],
        mode="lines",
        line={"color": BLUE, "width": 1.6},
        name="transactions/s",
        hovertemplate="%{y:,.0f}",
    )
    return figure


def in_it_chart(traced: TraceSummary, names: Mapping[tuple[str, str], str]) -> go.Figure | None:
    """How many processes were in each point at a time."""
    figure = _figure(traced, yaxis=axis("processes in it, on average", rangemode="tozero"))
    for course, colour in zip(_drawn(traced, names), _COLOURS, strict=False):
        _line(
            figure, traced, names, course, [round(v, 4) for v in course.in_it], colour, "%{y:.2f}"
        )
    return figure if figure.data else None


def p99_chart(traced: TraceSummary, names: Mapping[tuple[str, str], str]) -> go.Figure | None:
    """The 99th percentile of each point by second."""
    figure = _figure(
        traced,
        yaxis=axis("99th percentile, microseconds", type="log", dtick=1, separatethousands=True),
    )
    for course, colour in zip(_drawn(traced, names), _COLOURS, strict=False):
        values = [None if v is None else max(round(v, 1), 0.1) for v in course.p99_us]
        _line(figure, traced, names, course, values, colour, "%{y:,.0f} µs")
    return figure if figure.data else None


def heat_map(traced: TraceSummary, course: PointCourse) -> go.Figure | None:
    """How many durations fell into each bucket in each second."""
    lows = sorted({low for buckets in course.buckets for low in buckets})
    if not lows:
        return None
    steps = [0, *(2**power for power in range(int(math.log2(max(lows[-1], 1))) + 1))]
    steps = [low for low in steps if lows[0] <= low <= lows[-1]]
    rows = [[buckets.get(low, 0) for buckets in course.buckets] for low in steps]
    figure = _figure(traced, yaxis=axis("", type="category"))
    figure.update_layout(height=max(_HEIGHT_PX, 60 + 18 * len(steps)), hovermode="closest")
    figure.add_heatmap(
        x=_times(traced),
        y=[f"{_bound(low)} to {_bound(upper_us(low))}" for low in steps],
        # By the logarithm: the long ones are few, and they are what is looked for.
        z=[[None if not n else round(math.log10(n), 3) for n in row] for row in rows],
        customdata=rows,
        colorscale=[[0.0, translucent(ORANGE, 0.2)], [0.5, ORANGE], [1.0, VERMILLION]],
        showscale=False,
        xgap=0,
        ygap=1,
        hovertemplate="%{x}<br>%{y}: %{customdata}<extra></extra>",
    )
    return figure


def _bound(us: int) -> str:
    for limit, divisor, unit in ((1000, 1, "µs"), (1_000_000, 1000, "ms")):
        if us < limit:
            return f"{us / divisor:.3g} {unit}"
    return f"{us / 1e6:.3g} s"


def _drawn(traced: TraceSummary, names: Mapping[tuple[str, str], str]) -> Sequence[PointCourse]:
    return [course for course in traced.courses if (course.point, course.key) in names]


def _line(
    figure: go.Figure,
    traced: TraceSummary,
    names: Mapping[tuple[str, str], str],
    course: PointCourse,
    values: Sequence[float | None],
    colour: str,
    shown: str,
) -> None:
    figure.add_scatter(
        x=_times(traced),
        y=values,
        mode="lines+markers" if len(values) < 3 else "lines",
        connectgaps=False,
        line={"color": colour, "width": 1.6},
        name=plain(names[course.point, course.key]),
        hovertemplate=shown,
    )


def _times(traced: TraceSummary) -> list[str]:
    return [moment(middle) for middle in traced.times_ns]


def _figure(traced: TraceSummary, **layout: object) -> go.Figure:
    figure = new_figure(_HEIGHT_PX, hovermode="x unified", **layout)
    figure.update_layout(
        xaxis=axis("", type="date", range=[moment(traced.start_ns), moment(traced.end_ns)]),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        margin={"t": _LEGEND_PX},
    )
    for one in traced.checkpoints:
        end = one.end_ns or traced.end_ns
        shade(figure, moment(one.start_ns), moment(end), colour=BAND)
        if one.sync_s:
            shade(figure, moment(end - round(one.sync_s * 1e9)), moment(end), colour=_SYNC)
    return figure
