"""Throughput around the start of a checkpoint.

Enters: checkpoint effects. Leaves: a chart with a profile and its band per arm.
Never: computes a profile.
"""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from pgassay.analysis.model import Analysis
from pgassay.findings.wording import signed_percent
from pgassay.report.charts.quantiles import draw_with_band
from pgassay.report.charts.style import INK, ArmStyle, axis, new_figure, note, plain

_PLOT_PX = 320


def checkpoints_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> go.Figure | None:
    """The chart, or None where no arm has a profile."""
    drawn = [e for e in analysis.checkpoint_effects if e.offset_s and e.arm in styles]
    if not drawn:
        return None
    figure = new_figure(_PLOT_PX + 60)
    tall = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    figure.add_shape(type="line", x0=0, x1=0, line={"color": INK, "width": 1.2}, **tall)
    figure.add_shape(
        type="line", xref="paper", x0=0, x1=1, y0=0, y1=0, line={"color": INK, "width": 1}
    )
    figure.add_annotation(
        note("checkpoint begins", x=0, xanchor="left", y=1, yref="paper", yanchor="top", xshift=4)
    )
    for effect in drawn:
        style = styles[effect.arm]
        draw_with_band(
            figure,
            effect.offset_s,
            effect.profile_pct,
            [
                band if band is None else (max(band[0], -100.0), min(band[1], 150.0))
                for band in effect.band95_pct
            ],
            style.colour,
            [
                f"{plain(style.label)}, {offset:+.1f} s: {signed_percent(value)}"
                for offset, value in zip(effect.offset_s, effect.profile_pct, strict=True)
            ],
            legendgroup=effect.arm,
        )
    figure.update_layout(
        xaxis=axis("seconds from the start of a checkpoint"),
        yaxis=axis("throughput against the seconds before", ticksuffix=" %"),
    )
    return figure
