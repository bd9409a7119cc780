"""The density of each scenario's latency in each arm.

Enters: the modes. Leaves: a chart with a panel per scenario, both axes logarithmic, because a slow
mode of a few per cent cannot be seen otherwise. Never: estimates a density.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from pgassay.analysis.curves.modes.model import LatencyModes
from pgassay.findings.wording import latency, plain_number
from pgassay.report.charts.style import ArmStyle, axis, new_figure, note, plain

_PANEL_PX, _GAP_PX, _TOP_PX, _BOTTOM_PX = 210, 84, 28, 54
_MOST_PANELS = 6
_LEAST_OF_PEAK = 1e-4
"""Of the highest density of a panel: what lies lower is a few transactions and not drawn."""


def modes_chart(shown: Sequence[LatencyModes], styles: Mapping[str, ArmStyle]) -> go.Figure | None:
    """The chart of the scenarios with the most transactions, or None without any."""
    scenarios = panels_of(shown)
    if not scenarios:
        return None
    height = _TOP_PX + len(scenarios) * (_PANEL_PX + _GAP_PX) - (_GAP_PX - _BOTTOM_PX)
    figure = new_figure(height, margin={"l": 2, "r": 2, "t": 0, "b": 0, "pad": 0})
    for number, scenario in enumerate(scenarios):
        own = [one for one in shown if one.scenario == scenario and one.arm in styles]
        top = 1.0 - (_TOP_PX + number * (_PANEL_PX + _GAP_PX)) / height
        _draw_panel(figure, number, (max(0.0, top - _PANEL_PX / height), top), own, styles)
    return figure


def panels_of(shown: Sequence[LatencyModes]) -> list[str]:
    """The scenarios that are drawn."""
    counts = dict.fromkeys((one.scenario for one in shown), 0)
    for one in shown:
        counts[one.scenario] += one.transactions
    return sorted(counts, key=lambda name: -counts[name])[:_MOST_PANELS]


def _draw_panel(
    figure: go.Figure,
    number: int,
    domain: tuple[float, float],
    own: Sequence[LatencyModes],
    styles: Mapping[str, ArmStyle],
) -> None:
    suffix = "" if number == 0 else str(number + 1)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    least = _LEAST_OF_PEAK * max(value for one in own for _, value in one.density)
    for one in own:
        style = styles[one.arm]
        drawn = [(ms, value) for ms, value in one.density if value >= least]
        figure.add_scatter(
            x=[float(f"{ms:.4g}") for ms, _ in drawn],
            y=[float(f"{value:.3g}") for _, value in drawn],
            mode="lines",
            line={"color": style.colour, "width": 2, "dash": style.dash},
            hoverinfo="skip",
            legendgroup=one.arm,
            **axes,
        )
        _mark(figure, one, style, drawn, axes)
    title = f"<b>{plain(own[0].scenario)}</b>"
    figure.add_annotation(
        note(title, xref="paper", x=0, xanchor="left", xshift=-2, yref="paper", y=domain[1],
             yanchor="bottom", yshift=6)
    )  # fmt: skip
    figure.layout[f"xaxis{suffix}"] = axis(
        "latency, ms", type="log", anchor=axes["yaxis"], dtick=1, minor={"dtick": "D1"}
    )
    figure.layout[f"yaxis{suffix}"] = axis(
        "", type="log", domain=list(domain), anchor=axes["xaxis"], ticksuffix=" %", dtick=1
    )


def _mark(
    figure: go.Figure,
    one: LatencyModes,
    style: ArmStyle,
    drawn: Sequence[tuple[float, float]],
    axes: Mapping[str, str],
) -> None:
    """The peak of each mode as a symbol, the mean as a cross."""
    names = [
        f"{plain(style.label)}<br>mode at {latency(mode.peak_ms.value)}:"
        f" {plain_number(mode.share_pct.value)} % of the transactions"
        for mode in one.modes
    ]
    names.append(f"{plain(style.label)}<br>mean {latency(one.mean_ms.value)}")
    at = [*(mode.peak_ms.value for mode in one.modes), one.mean_ms.value]
    places, values = np.array(drawn).T
    heights = np.exp(np.interp(np.log(at), np.log(places), np.log(values)))
    figure.add_scatter(
        x=[float(f"{ms:.4g}") for ms in at],
        y=[float(f"{height:.3g}") for height in heights],
        mode="markers",
        marker={
            "color": style.colour,
            "size": [8] * len(one.modes) + [10],
            "symbol": [style.symbol] * len(one.modes) + ["x-thin"],
            "line": {"color": style.colour, "width": [0] * len(one.modes) + [2.5]},
        },
        customdata=names,
        hovertemplate="%{customdata}<extra></extra>",
        legendgroup=one.arm,
        **axes,
    )
