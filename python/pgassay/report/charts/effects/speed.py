"""Operational speed and waits against the load.

Enters: the arms' profiles at each load. Leaves: a chart of two panels, with a line per arm.
Never: fits a curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.analysis.sampled.model import SPEED, LoadProfile
from pgassay.language import colon, listed
from pgassay.quantities import LoadUnit, load, spaced
from pgassay.report.charts.effects.load_curve import loads_axis
from pgassay.report.charts.style import ArmStyle
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Points

_PLOT_PX = 150


def speed_chart(
    profiles: Sequence[LoadProfile], styles: Mapping[str, ArmStyle], unit: LoadUnit
) -> Figure | None:
    """Draws means of each arm's trials over connections, or over the rate where loads differ by
    it; None where speed was not read."""
    panels = []
    for one in SPEED:
        known = [each for each in profiles if each.arm in styles and one.name in each.values]
        if not known:
            continue
        places = sorted({_place(each, unit) for each in known})
        title = f"{one.name}{colon()}{one.heading}"
        panel = Panel(loads_axis(places, unit), Axis(title, from_zero=True), _PLOT_PX)
        for arm, style in styles.items():
            own = [each for each in known if each.arm == arm]
            x = [_place(each, unit) for each in own]
            y = [each.values[one.name] for each in own]
            tips = [
                (listed((style.label, load(at, unit))), f"{one.name} {spaced(value, one.digits)}")
                for at, value in zip(x, y, strict=True)
            ]
            panel.add(
                Line(x, y, style.colour, dash=style.dash, arm=arm),
                Points(x, y, style.colour, tips, size=7, symbol=style.symbol, arm=arm),
            )
        panels.append(panel)
    return Figure(panels) if panels else None


def _place(one: LoadProfile, unit: LoadUnit) -> float:
    """The connections that ran transactions, where loads differ by clients."""
    by_clients = unit is LoadUnit.CLIENTS and one.connections is not None
    return float(one.connections or 0) if by_clients else one.level
