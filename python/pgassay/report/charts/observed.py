"""An observation over time.

Enters: what was observed. Leaves: charts on one time axis in UTC, None where nothing was sampled.
Never: joins a line over a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import plotly.graph_objects as go

from pgassay.analysis.observation.model import BinnedSeries, ObservationSummary
from pgassay.analysis.reading.metrics import WAIT_CLASSES
from pgassay.report.charts.style import (
    BLUE,
    CLASS_COLOURS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    VERMILLION,
    axis,
    new_figure,
    plain,
    shade,
    translucent,
)

_HEIGHT_PX = 260
_MB = 1e6
_Drawn = tuple[str, str, str]
"""Course, label, colour."""
_PROCESSORS: Sequence[_Drawn] = (
    ("busy", "busy", GREEN),
    ("iowait", "iowait", BLUE),
    ("steal", "steal", VERMILLION),
)
_BYTES: Sequence[_Drawn] = (
    ("read", "disks, read", BLUE),
    ("written", "disks, written", ORANGE),
    ("wal", "WAL", VERMILLION),
)
_BEHIND: Sequence[_Drawn] = (("replay_lag_ms", "replay", VERMILLION),)


def processors_chart(observed: ObservationSummary) -> go.Figure | None:
    """How busy the host's processors were."""
    return _lines(observed, "percent of the host’s processors", _PROCESSORS)


def standby_chart(observed: ObservationSummary) -> go.Figure | None:
    """How far replay was behind the primary."""
    return _lines(observed, "milliseconds behind the primary", _BEHIND)


def disks_chart(observed: ObservationSummary) -> go.Figure | None:
    """Bytes read and written, and WAL."""
    return _lines(observed, "MB per second", _BYTES, divisor=_MB)


def moment(time_ns: int) -> str:
    """A time as plotly reads it; its axes have no zone, and ours is UTC."""
    return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _middles(observed: ObservationSummary) -> list[str]:
    edges = observed.edges_ns
    return [moment((a + b) // 2) for a, b in pairwise(edges)]


def _figure(observed: ObservationSummary, title: str) -> go.Figure:
    figure = new_figure(_HEIGHT_PX, hovermode="x unified")
    extent = [moment(observed.start_ns), moment(observed.end_ns)]
    figure.update_layout(
        xaxis=axis("", type="date", range=extent), yaxis=axis(title, rangemode="tozero")
    )
    for start, end in observed.gaps_ns:
        shade(figure, moment(start), moment(end))
    return figure


def throughput_chart(observed: ObservationSummary) -> go.Figure | None:
    """Commits and rollbacks per second, with the checkpoints."""
    if "tps" not in observed.courses:
        return None
    figure = _figure(observed, "commits per second")
    _line(figure, observed, observed.courses["tps"], "commits/s", BLUE)
    if any(observed.courses.get("rollbacks", ())):
        _line(figure, observed, observed.courses["rollbacks"], "rollbacks/s", VERMILLION)
    top = max((value or 0.0 for value in observed.courses["tps"]), default=0.0)
    figure.add_scatter(
        # A checkpoint that began before the observation is drawn at its start.
        x=[moment(max(row["started_ns"], observed.start_ns)) for row in observed.checkpoints],
        y=[top * 1.06] * len(observed.checkpoints),
        mode="markers",
        marker={"symbol": "line-ns", "size": 9, "line": {"color": INK, "width": 1.5}},
        name="checkpoint",
        customdata=[plain(row["cause"]) for row in observed.checkpoints],
        hovertemplate="%{customdata}",
    )
    return figure


def sessions_chart(observed: ObservationSummary) -> go.Figure | None:
    """Average active sessions, stacked by wait class."""
    if not observed.sessions:
        return None
    figure = _figure(observed, "average active sessions")
    x = _middles(observed)
    for wait_class in WAIT_CLASSES:
        course = observed.sessions.get(wait_class.name)
        if course is None:
            continue
        colour = CLASS_COLOURS.get(wait_class.name, GREY)
        figure.add_scatter(
            x=x,
            # A stacked area has no holes; a gap is shaded instead.
            y=[0.0 if value is None else round(value, 3) for value in course],
            mode="lines",
            stackgroup="sessions",
            line={"color": colour, "width": 0.6},
            fillcolor=translucent(colour, 0.75),
            name=plain(wait_class.title),
            hovertemplate="%{y:.2f}",
        )
    return figure


def _lines(
    observed: ObservationSummary, title: str, drawn: Sequence[_Drawn], divisor: float = 1.0
) -> go.Figure | None:
    present = [one for one in drawn if one[0] in observed.courses]
    if not present:
        return None
    figure = _figure(observed, title)
    for name, label, colour in present:
        _line(figure, observed, observed.courses[name], label, colour, divisor)
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.12, "x": 0})
    return figure


def _line(
    figure: go.Figure,
    observed: ObservationSummary,
    course: BinnedSeries,
    label: str,
    colour: str,
    divisor: float = 1.0,
) -> None:
    figure.add_scatter(
        x=_middles(observed),
        y=[None if value is None else round(value / divisor, 3) for value in course],
        mode="lines",
        connectgaps=False,
        line={"color": colour, "width": 1.6},
        name=label,
        hovertemplate="%{y:,.1f}",
    )
