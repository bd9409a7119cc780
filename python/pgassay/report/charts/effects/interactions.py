"""Each factor's effect at every level of another factor.

Enters: simple effects. Leaves: a chart with one panel per pair of factors, where a line that is not
level is an interaction. Never: computes an effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.compare.model import SimpleEffect
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import interval
from pgassay.language import tr
from pgassay.quantities import is_multiple, signed_percent
from pgassay.report.charts.style import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    axis_of_changes,
    limits,
    zero_and_margin,
)
from pgassay.report.svg.model import Axis, Figure, Line, Mark, Panel, Points, Text

_PANEL_PX = 220
_MOST_PANELS = 6
"""Pairs that are drawn; the table has all."""
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION)
_APART = 0.05
"""Between lines of one panel, in levels, so that their intervals do not hide each other."""

Pair = tuple[str, str]


def interaction_chart(analysis: Analysis) -> Figure | None:
    """Draws interactions of factors; returns None where none was estimated."""
    pairs: dict[Pair, list[SimpleEffect]] = {}
    for effect in analysis.answer.simple_effects:
        if effect.estimate.effect_pct is not None:
            pairs.setdefault((effect.factor, effect.other), []).append(effect)
    shown = list(pairs.items())[:_MOST_PANELS]
    return Figure([_panel(effects, analysis) for _, effects in shown]) if shown else None


def pairs_left_out(analysis: Analysis) -> int:
    """Counts the pairs of factors that the chart has no room for."""
    pairs = {(effect.factor, effect.other) for effect in analysis.answer.simple_effects}
    return max(0, len(pairs) - _MOST_PANELS)


def _panel(effects: Sequence[SimpleEffect], analysis: Analysis) -> Panel:
    at_levels = list(dict.fromkeys(effect.at for effect in effects))
    levels = list(dict.fromkeys(effect.level for effect in effects))
    alone = f" = {levels[0]}" if len(levels) == 1 else ""
    margin = 100 * analysis.answer.smallest_effect
    values = [effect.estimate.effect_pct or 0.0 for effect in effects]
    low, high = limits(
        [-margin, 0.0, margin, *values],
        (end for effect in effects for end in effect.estimate.ci95_pct or ()),
    )
    metric = METRICS[analysis.answer.metric].title.lower()
    panel = Panel(
        Axis(
            effects[0].other,
            low=-0.5,
            high=len(at_levels) - 0.5,
            ticks=[(float(place), level) for place, level in enumerate(at_levels)],
            grid=False,
        ),
        axis_of_changes("", low, high, in_multiples=any(map(is_multiple, values))),
        _PANEL_PX,
        title=tr(
            "{factor}{alone}: effect on {metric}",
            factor=effects[0].factor,
            alone=alone,
            metric=metric,
        ),
    )
    panel.add(*zero_and_margin(margin))
    for turn, level in enumerate(levels):
        own = [effect for effect in effects if effect.level == level]
        shift = (turn - (len(levels) - 1) / 2) * _APART
        places = [at_levels.index(effect.at) + shift for effect in own]
        colour = _COLOURS[turn % len(_COLOURS)]
        panel.add(*_line(own, places, colour))
        if len(levels) > 1:
            panel.add(
                Text(
                    own[-1].level,
                    x=places[-1],
                    y=own[-1].estimate.effect_pct,
                    dx=11,
                    dy=4,
                    colour=colour,
                )
            )
    return panel


def _line(effects: Sequence[SimpleEffect], places: Sequence[float], colour: str) -> Iterator[Mark]:
    values = [effect.estimate.effect_pct or 0.0 for effect in effects]
    tips = [
        (
            tr(
                "{factor} = {level} at {other} = {at}: {change}",
                factor=e.factor,
                level=e.level,
                other=e.other,
                at=e.at,
                change=signed_percent(e.estimate.effect_pct),
            ),
            str(interval(e.estimate)),
        )
        for e in effects
    ]
    bounds = [effect.estimate.ci95_pct for effect in effects]
    yield Line(places, values, colour)
    yield Points(places, values, colour, tips, size=11, symbol="diamond", errors=bounds)
