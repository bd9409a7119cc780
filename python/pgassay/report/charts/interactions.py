"""Each factor's effect at every level of another factor.

Enters: simple effects. Leaves: a chart with one panel per pair of factors, where a line that is not
level is an interaction. Never: computes an effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pgassay.analysis.compare.model import SimpleEffect
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import interval_text, signed_percent
from pgassay.report.charts.style import (
    BAND,
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    VERMILLION,
    axis,
    new_figure,
    note,
    plain,
)

_PANEL_PX = 230
_GAP_PX = 92
"""Room for the axis of the panel above and the title of the next."""
_TOP_PX = 30
_BOTTOM_PX = 54
_MOST_PANELS = 6
"""Pairs that are drawn; the table has all."""
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION)
_APART = 0.05
"""Between lines of one panel, in levels, so that their intervals do not hide each other."""

Pair = tuple[str, str]


def interaction_chart(analysis: Analysis) -> go.Figure | None:
    """The chart, or None where no interaction was estimated."""
    pairs: dict[Pair, list[SimpleEffect]] = {}
    for effect in analysis.simple_effects:
        if effect.estimate.effect_pct is not None:
            pairs.setdefault((effect.factor, effect.other), []).append(effect)
    shown = list(pairs.items())[:_MOST_PANELS]
    if not shown:
        return None
    height = _TOP_PX + len(shown) * (_PANEL_PX + _GAP_PX) - (_GAP_PX - _BOTTOM_PX)
    figure = new_figure(height, margin={"l": 2, "r": 2, "t": 0, "b": 0, "pad": 0})
    for number, ((_, other), effects) in enumerate(shown):
        top = 1.0 - (_TOP_PX + number * (_PANEL_PX + _GAP_PX)) / height
        _draw_panel(figure, number, (top - _PANEL_PX / height, top), effects, analysis)
        _lay_out(figure, number, (top - _PANEL_PX / height, top), other, effects)
    return figure


def pairs_left_out(analysis: Analysis) -> int:
    """How many pairs of factors the chart has no room for."""
    pairs = {(effect.factor, effect.other) for effect in analysis.simple_effects}
    return max(0, len(pairs) - _MOST_PANELS)


def _draw_panel(
    figure: go.Figure,
    number: int,
    domain: tuple[float, float],
    effects: Sequence[SimpleEffect],
    analysis: Analysis,
) -> None:
    metric = METRICS[analysis.metric].title.lower()
    x, y = _axes(number)
    at_levels = list(dict.fromkeys(effect.at for effect in effects))
    levels = list(dict.fromkeys(effect.level for effect in effects))
    margin = 100 * analysis.smallest_effect
    figure.add_shape(
        type="rect", xref=f"{x} domain", x0=0, x1=1, yref=y, y0=-margin, y1=margin,
        fillcolor=BAND, line={"width": 0}, layer="below",
    )  # fmt: skip
    figure.add_shape(
        type="line", xref=f"{x} domain", x0=0, x1=1, yref=y, y0=0, y1=0,
        line={"color": INK, "width": 1.2}, layer="below",
    )  # fmt: skip
    for turn, level in enumerate(levels):
        own = [effect for effect in effects if effect.level == level]
        shift = (turn - (len(levels) - 1) / 2) * _APART
        _draw_line(figure, (x, y), own, [at_levels.index(e.at) + shift for e in own], turn)
        if len(levels) > 1:
            _name_line(figure, (x, y), own[-1], len(at_levels) - 1 + shift, turn)
    alone = f" = {levels[0]}" if len(levels) == 1 else ""
    title = f"<b>{plain(effects[0].factor)}{plain(alone)}</b>: effect on {metric}"
    figure.add_annotation(
        note(title, xref="paper", x=0, xanchor="left", xshift=-2, yref="paper", y=domain[1],
             yanchor="bottom", yshift=6)
    )  # fmt: skip


def _draw_line(
    figure: go.Figure,
    axes: tuple[str, str],
    effects: Sequence[SimpleEffect],
    places: Sequence[float],
    turn: int,
) -> None:
    colour = _COLOURS[turn % len(_COLOURS)]
    values = [effect.estimate.effect_pct or 0.0 for effect in effects]
    bounds = [
        effect.estimate.ci95_pct or (value, value)
        for effect, value in zip(effects, values, strict=True)
    ]
    figure.add_scatter(
        x=places,
        y=[round(value, 3) for value in values],
        xaxis=axes[0],
        yaxis=axes[1],
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 11, "symbol": "diamond"},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [round(b[1] - v, 3) for b, v in zip(bounds, values, strict=True)],
            "arrayminus": [round(v - b[0], 3) for b, v in zip(bounds, values, strict=True)],
            "color": colour,
            "thickness": 2.5,
            "width": 6,
        },
        customdata=[
            plain(f"{e.factor} = {e.level} at {e.other} = {e.at}: ")
            + f"{signed_percent(e.estimate.effect_pct)}<br>{interval_text(e.estimate)}"
            for e in effects
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _name_line(
    figure: go.Figure,
    axes: tuple[str, str],
    last: SimpleEffect,
    place: float,
    turn: int,
) -> None:
    """The level beside its line's end."""
    text = note(
        plain(last.level), xref=axes[0], x=place, xanchor="left", xshift=10, yref=axes[1],
        y=last.estimate.effect_pct, yanchor="middle",
    )  # fmt: skip
    text["font"] = {"size": 12, "color": _COLOURS[turn % len(_COLOURS)]}
    figure.add_annotation(text)


def _lay_out(
    figure: go.Figure,
    number: int,
    domain: tuple[float, float],
    other: str,
    effects: Sequence[SimpleEffect],
) -> None:
    levels = list(dict.fromkeys(effect.at for effect in effects))
    suffix = "" if number == 0 else str(number + 1)
    x, y = _axes(number)
    figure.layout[f"xaxis{suffix}"] = axis(
        plain(other),
        tickvals=list(range(len(levels))),
        ticktext=[plain(level) for level in levels],
        range=[-0.5, len(levels) - 0.5],
        anchor=y,
        showgrid=False,
        fixedrange=True,
    )
    figure.layout[f"yaxis{suffix}"] = axis(
        "", domain=[max(0.0, domain[0]), domain[1]], anchor=x, ticksuffix=" %", nticks=6
    )


def _axes(number: int) -> tuple[str, str]:
    suffix = "" if number == 0 else str(number + 1)
    return f"x{suffix}", f"y{suffix}"
