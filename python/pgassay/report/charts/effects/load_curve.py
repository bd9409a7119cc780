"""Throughput against clients, and the difference at each load.

Enters: load curves and effects by load. Leaves: a chart each. Never: computes a fit or a band.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.analysis.curves.model import LoadCurve
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import quantity
from pgassay.language import colon, comma, decimals, listed, tr
from pgassay.quantities import LoadUnit, load, signed_percent
from pgassay.report.charts.latency.quantiles import key_of_levels
from pgassay.report.charts.style import (
    ArmStyle,
    dotted,
    level_colour,
    limits,
    line_with_band,
    shade,
    zero_and_margin,
)
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Points

_PLOT_PX = 320


def load_curve_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> Figure | None:
    """Draws points with intervals, the fitted law as a line, and the knee as a mark."""
    curves = [curve for curve in analysis.behaviour.load_curves if curve.arm in styles]
    if not curves:
        return None
    bounds = (end for each in curves for ends in each.interval95 if ends for end in ends)
    _, highest = limits([0.0, *_throughputs(curves)], bounds)
    panel = Panel(
        loads_axis(curves[0].clients, LoadUnit.CLIENTS),
        Axis(tr("transactions per second"), low=0.0, high=highest),
        _PLOT_PX,
    )
    for curve in curves:
        style = styles[curve.arm]
        if curve.fit is not None:
            clients, law = zip(*curve.fit.curve, strict=True)
            panel.add(Line(clients, law, style.colour, opacity=0.6, dash=style.dash, arm=curve.arm))
        panel.add(
            Points(
                curve.clients,
                curve.tps,
                style.colour,
                [
                    (
                        listed((style.label, load(clients, LoadUnit.CLIENTS))),
                        quantity(tps, METRICS["tps"]),
                        *(() if ends else (tr("no interval yet"),)),
                    )
                    for clients, tps, ends in zip(
                        curve.clients, curve.tps, curve.interval95, strict=True
                    )
                ],
                size=9,
                symbol=style.symbol,
                arm=curve.arm,
                errors=curve.interval95,
            )
        )
        if curve.fit and curve.fit.knee_clients and curve.fit.knee_tps:
            at = curve.fit.knee_clients.value
            knee = decimals(at, ".0f")
            words = tr("knee of {style}: {knee} clients", style=style.label, knee=knee)
            panel.add(
                Points(
                    (at,),
                    (curve.fit.knee_tps.value,),
                    style.colour,
                    ((words,),),
                    size=12,
                    symbol="cross",
                    arm=curve.arm,
                )
            )
    return Figure([panel])


def by_load_chart(analysis: Analysis) -> Figure | None:
    """Draws the primary metric's difference at each load with its band, and where sides change."""
    effects = [
        effect for effect in analysis.behaviour.by_load if effect.metric == analysis.answer.metric
    ]
    if not effects:
        return None
    metric = METRICS[analysis.answer.metric]
    better = {"higher": tr(" (↑ better)"), "lower": tr(" (↓ better)")}.get(metric.good, "")
    margin = 100 * analysis.answer.smallest_effect
    low, high = limits(
        [-margin, 0.0, margin, *(value for each in effects for value in each.effect_pct)],
        (end for each in effects for ends in each.band95_pct if ends for end in ends),
    )
    panel = Panel(
        loads_axis(effects[0].loads, effects[0].step_unit),
        Axis(
            tr("change of {metric}{better}", metric=metric.title.lower(), better=better),
            low=low,
            high=high,
            suffix=" %",
        ),
        _PLOT_PX,
    )
    panel.add(*zero_and_margin(margin))
    for index, effect in enumerate(effects):
        colour = level_colour(index)
        for crossing in effect.crossings:
            panel.add(shade(crossing.low, crossing.high, colour, 0.12), dotted(crossing.at))
        panel.add(
            *line_with_band(
                effect.loads,
                effect.effect_pct,
                effect.band95_pct,
                colour,
                [
                    (
                        f"{effect.factor} = {effect.level}{comma()}"
                        f"{load(at, effect.step_unit)}{colon()}{signed_percent(value)}",
                    )
                    for at, value in zip(effect.loads, effect.effect_pct, strict=True)
                ],
            )
        )
    names = [(effect.factor, f"{effect.factor} = {effect.level}") for effect in effects]
    return Figure([panel], key=key_of_levels(names))


def _throughputs(curves: Sequence[LoadCurve]) -> Iterator[float]:
    """What must be seen: measured points, fitted lines, knees."""
    for curve in curves:
        yield from curve.tps
        if curve.fit is not None:
            yield from (tps for _, tps in curve.fit.curve)
            if curve.fit.knee_tps:
                yield curve.fit.knee_tps.value


def loads_axis(loads: Sequence[float], unit: LoadUnit) -> Axis:
    """Makes the axis of the steps' loads, each named."""
    ticks = [(at, decimals(at, "g")) for at in loads]
    return Axis(str(unit.words), kind="log" if min(loads) > 0 else "linear", ticks=ticks)
