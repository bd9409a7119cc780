"""Signals around the start of a checkpoint, one small panel each, on one axis of time.

Enters: the causes of dips by arm. Leaves: a chart, None where nothing was sampled.
Never: computes a profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pgassay.analysis.curves.checkpoints.model import CheckpointCauses, SignalProfile
from pgassay.findings.wording import plain_number
from pgassay.report.charts.style import INK, ArmStyle, axis, new_figure, note, plain

_PANEL_PX, _GAP = 110, 0.3
"""Height of a panel with its title, and the share of it that the title takes."""


def signals_chart(
    causes: Sequence[CheckpointCauses], styles: Mapping[str, ArmStyle]
) -> go.Figure | None:
    """A panel for each signal that changes in any arm, in the order of the analysis."""
    titles: dict[str, SignalProfile] = {}
    for one in causes:
        for signal in one.signals:
            if len(set(signal.known)) > 1:
                titles.setdefault(signal.name, signal)
    if not titles:
        return None
    figure = new_figure(_PANEL_PX * len(titles) + 60)
    places = {name: len(titles) - 1 - at for at, name in enumerate(titles)}
    for name, signal in titles.items():
        place = places[name]
        suffix = "" if place == 0 else str(place + 1)
        low, high = place / len(titles), (place + 1 - _GAP) / len(titles)
        figure.update_layout(
            {f"yaxis{suffix}": axis("", domain=[low, high], rangemode="tozero", nticks=3)}
        )
        unit = f", {signal.unit}" if signal.unit else ""
        figure.add_annotation(
            note(
                f"{plain(signal.title)}{unit}",
                x=0, xref="paper", xanchor="left", y=high, yref="paper", yanchor="bottom",
            )
        )  # fmt: skip
        for one in causes:
            own = next((each for each in one.signals if each.name == name), None)
            if own is None or one.arm not in styles:
                continue
            style = styles[one.arm]
            figure.add_scatter(
                x=one.offset_s,
                y=own.values,
                yaxis=f"y{suffix}",
                mode="lines",
                line={"color": style.colour, "width": 2, "dash": style.dash},
                legendgroup=one.arm,
                hovertext=[
                    f"{plain(style.label)}, {offset:+.1f} s: {_shown(value)} {signal.unit}"
                    for offset, value in zip(one.offset_s, own.values, strict=True)
                ],
                hoverinfo="text",
            )
    figure.add_shape(
        type="line", x0=0, x1=0, yref="paper", y0=0, y1=1, layer="below",
        line={"color": INK, "width": 1.2},
    )  # fmt: skip
    figure.update_layout(
        xaxis=axis("seconds from the start of a checkpoint", anchor="free", position=0)
    )
    return figure


def _shown(value: float | None) -> str:
    return "" if value is None else plain_number(value)
