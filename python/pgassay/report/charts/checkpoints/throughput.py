"""Throughput around the start of a checkpoint.

Enters: checkpoint effects. Leaves: a chart with a profile and its band per arm.
Never: computes a profile.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.analysis.model import Analysis
from pgassay.language import decimals, tr
from pgassay.quantities import signed_percent
from pgassay.report.charts.style import INK, ArmStyle, limits, line_with_band
from pgassay.report.svg.model import Axis, Figure, Panel, Rule, Text

_PLOT_PX = 320


def checkpoints_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> Figure | None:
    """Draws throughput around checkpoints; returns None where no arm has a profile."""
    drawn = [e for e in analysis.behaviour.checkpoint_effects if e.offset_s and e.arm in styles]
    if not drawn:
        return None
    low, high = limits(
        [0.0, *(value for e in drawn for value in e.profile_pct)],
        (end for e in drawn for ends in e.band95_pct if ends for end in ends),
    )
    panel = Panel(
        Axis(tr("seconds from the start of a checkpoint"), unit=tr(" s")),
        Axis(tr("throughput against the seconds before"), low=low, high=high, suffix=" %"),
        _PLOT_PX,
    )
    panel.add(
        Rule(INK, x=0.0, width=1.2),
        Rule(INK, y=0.0),
        Text(tr("checkpoint begins"), x=0.0, dx=5, dy=12),
    )
    for effect in drawn:
        style = styles[effect.arm]
        panel.add(
            *line_with_band(
                effect.offset_s,
                effect.profile_pct,
                effect.band95_pct,
                style.colour,
                [
                    (
                        tr(
                            "{style}, {offset} s: {change}",
                            style=style.label,
                            offset=decimals(offset, "+.1f"),
                            change=signed_percent(value),
                        ),
                    )
                    for offset, value in zip(effect.offset_s, effect.profile_pct, strict=True)
                ],
                arm=effect.arm,
            )
        )
    return Figure([panel], zoom="checkpoint")
