"""Throughput against clients, and the difference at each load.

Enters: load curves and effects by load. Leaves: a chart each. Never: computes a fit or a band.
"""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import quantity, signed_percent
from pgassay.report.charts.quantiles import draw_with_band, name_lines, zero_and_margin
from pgassay.report.charts.style import (
    ArmStyle,
    axis,
    level_colour,
    mark,
    new_figure,
    plain,
    shade,
    translucent,
)

_PLOT_PX = 320


def load_curve_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> go.Figure | None:
    """Points with intervals, the fitted law as a line, the knee as a mark."""
    curves = [curve for curve in analysis.load_curves if curve.arm in styles]
    if not curves:
        return None
    figure = new_figure(_PLOT_PX + 70)
    for curve in curves:
        style = styles[curve.arm]
        if curve.fit is not None:
            figure.add_scatter(
                x=[round(clients, 3) for clients, _ in curve.fit.curve],
                y=[round(tps, 1) for _, tps in curve.fit.curve],
                mode="lines",
                line={"color": translucent(style.colour, 0.6), "width": 2, "dash": style.dash},
                legendgroup=curve.arm,
                hoverinfo="skip",
            )
        bounds = [band or (tps, tps) for tps, band in zip(curve.tps, curve.interval95, strict=True)]
        # A very wide interval would flatten all the others.
        highest = 3 * max(tps for each in curves for tps in each.tps)
        figure.add_scatter(
            x=list(curve.clients),
            y=[round(tps, 1) for tps in curve.tps],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [
                    min(high, highest) - tps
                    for tps, (_, high) in zip(curve.tps, bounds, strict=True)
                ],
                "arrayminus": [tps - low for tps, (low, _) in zip(curve.tps, bounds, strict=True)],
                "color": translucent(style.colour, 0.6),
                "thickness": 1.5,
                "width": 4,
            },
            mode="markers",
            marker={"color": style.colour, "size": 9, "symbol": style.symbol},
            legendgroup=curve.arm,
            customdata=[
                f"{plain(style.label)}, {clients:g} clients:<br>{quantity(tps, METRICS['tps'])}"
                for clients, tps in zip(curve.clients, curve.tps, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
        knee = curve.fit.knee_clients if curve.fit else None
        if knee is not None and curve.fit is not None and curve.fit.knee_tps is not None:
            figure.add_scatter(
                x=[knee.value],
                y=[curve.fit.knee_tps.value],
                mode="markers",
                marker={
                    "symbol": "x-thin",
                    "size": 12,
                    "line": {"color": style.colour, "width": 3},
                },
                legendgroup=curve.arm,
                customdata=[f"knee of {plain(style.label)}: {knee.value:.0f} clients"],
                hovertemplate="%{customdata}<extra></extra>",
            )
    figure.update_layout(
        xaxis=_loads(curves[0].clients, "clients"),
        yaxis=axis("transactions per second", rangemode="tozero"),
    )
    return figure


def by_load_chart(analysis: Analysis) -> go.Figure | None:
    """The primary metric's difference at each load, with its band, and where sides change."""
    effects = [effect for effect in analysis.by_load if effect.metric == analysis.metric]
    if not effects:
        return None
    figure = new_figure(_PLOT_PX + 50)
    zero_and_margin(figure, 100 * analysis.smallest_effect)
    for index, effect in enumerate(effects):
        colour = level_colour(index)
        draw_with_band(
            figure,
            effect.loads,
            effect.effect_pct,
            [
                band if band is None else (max(band[0], -100.0), min(band[1], _highest(analysis)))
                for band in effect.band95_pct
            ],
            colour,
            [
                f"{plain(effect.factor)} = {plain(effect.level)}, {load:g} {effect.step_unit}:"
                f" {signed_percent(value)}"
                for load, value in zip(effect.loads, effect.effect_pct, strict=True)
            ],
            f"{plain(effect.factor)} = {plain(effect.level)}",
        )
        for crossing in effect.crossings:
            shade(figure, crossing.low, crossing.high, colour=translucent(colour, 0.12))
            mark(figure, crossing.at)
    metric = METRICS[analysis.metric]
    better = {"higher": " (↑ better)", "lower": " (↓ better)"}.get(metric.good, "")
    name_lines(figure, [effect.factor for effect in effects])
    figure.update_layout(
        xaxis=_loads(effects[0].loads, effects[0].step_unit),
        yaxis=axis(f"change of {metric.title.lower()}{better}", ticksuffix=" %"),
    )
    return figure


def _highest(analysis: Analysis) -> float:
    """Very wide bands are cut here, because they would flatten all the others."""
    values = [abs(v) for effect in analysis.by_load for v in effect.effect_pct]
    return 4 * max([*values, 100 * analysis.smallest_effect])


def _loads(loads: tuple[float, ...], unit: str) -> dict[str, object]:
    logarithmic = {"type": "log"} if min(loads) > 0 else {}
    return axis(unit, tickvals=list(loads), ticktext=[f"{load:g}" for load in loads], **logarithmic)
