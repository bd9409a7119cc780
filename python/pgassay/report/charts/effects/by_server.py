"""The effect on each server of a fleet.

Enters: effects by server. Leaves: a chart with one panel per verdict and one row per server: mean
and interval, zero and the band of effects too small to matter. Never: computes an effect.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import ByServer, ServerEffect
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import METRICS
from pgassay.language import comma, ntr, tr
from pgassay.quantities import load, signed_percent
from pgassay.report.charts.style import BAND_OPACITY, BLUE, INK, SHADE, limits, words_of_row
from pgassay.report.svg.model import Axis, Box, Figure, Line, Panel, Points, Rule, Tip

_ROW_PX = 58
_MOST_PANELS = 6
"""Verdicts that are drawn; the table has all."""


def by_server_chart(analysis: Analysis) -> Figure | None:
    """Draws the effect on each server; returns None where all blocks ran on one server."""
    shown = analysis.answer.by_server[:_MOST_PANELS]
    margin = 100 * analysis.answer.smallest_effect
    return Figure([_panel(one, margin) for one in shown]) if shown else None


def _panel(found: ByServer, margin: float) -> Panel:
    servers = found.servers
    low, high = limits(
        [0.0, -margin, margin, *(one.effect_pct or 0.0 for one in servers)],
        (end for one in servers for end in one.ci95_pct or ()),
    )
    metric = METRICS[found.metric].title.lower()
    panel = Panel(
        x=Axis(
            tr("change of {metric} on each server", metric=metric), low=low, high=high, suffix=" %"
        ),
        y=Axis(low=len(servers) - 0.5, high=-0.7, hidden=True),
        height=len(servers) * _ROW_PX,
        title=f"{found.factor} = {found.level}{comma()}{load(found.step, found.step_unit)}",
    )
    panel.add(Box(-margin, margin, None, None, SHADE, BAND_OPACITY), Rule(INK, x=0.0, width=1.2))
    for at, one in enumerate(servers):
        tip = _tip(one)
        if one.ci95_pct is not None:
            panel.add(
                Line(one.ci95_pct, (at, at), BLUE, width=3.5),
                Points(one.ci95_pct, (at, at), BLUE, (tip, tip), size=13, symbol="tick"),
            )
        panel.add(
            Points((one.effect_pct or 0.0,), (at,), BLUE, (tip,), size=13, symbol="diamond"),
            *words_of_row(one.server, at, one.effect_pct or 0.0),
        )
    return panel


def _tip(one: ServerEffect) -> Tip:
    change = ntr(
        "{server}, {n} block: {change}",
        "{server}, {n} blocks: {change}",
        one.blocks,
        server=one.server,
        change=signed_percent(one.effect_pct),
    )
    if one.ci95_pct is None:
        return (change,)
    low, high = (signed_percent(end, like=one.effect_pct) for end in one.ci95_pct)
    return change, tr("joint 95 % CI {low} to {high}", low=low, high=high)
