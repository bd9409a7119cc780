"""Operational speed and waits against the load.

Enters: the arms' profiles at each load. Leaves: a chart of two panels, with a line per arm.
Never: fits a curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from pgassay.analysis.sampled.model import SPEED, LoadProfile
from pgassay.language import colon, tr
from pgassay.quantities import LoadUnit, spaced, with_unit
from pgassay.report.charts.effects.load_curve import loads_axis
from pgassay.report.charts.style import ArmStyle, arm_named, arms_of_panels
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Points

_PLOT_PX = 150


def speed_chart(
    profiles: Sequence[LoadProfile],
    styles: Mapping[str, ArmStyle],
    unit: LoadUnit,
    *,
    apart: bool = False,
) -> Figure | None:
    """Draws means of each arm's trials over connections, or over the rate where loads differ by
    it; None where speed was not read. `apart`: each arm in panels of its own."""
    panels = []
    for one, arms in product(SPEED, arms_of_panels(styles, apart=apart)):
        known = [each for each in profiles if each.arm in arms and one.name in each.values]
        if not known:
            continue
        places = sorted({_place(each, unit) for each in known})
        title = f"{one.name}{colon()}{with_unit(one.title, one.unit)}{arm_named(arms, apart=apart)}"
        across = replace(loads_axis(places, unit), title=_words(known, unit))
        panel = Panel(across, Axis(title, from_zero=True), _PLOT_PX)
        for arm, style in arms.items():
            own = [each for each in known if each.arm == arm]
            x = [_place(each, unit) for each in own]
            y = [each.values[one.name] for each in own]
            tips = [(style.short, f"{one.name} {spaced(value, one.digits)}") for value in y]
            panel.add(
                Line(x, y, style.colour, dash=style.dash, arm=arm),
                Points(x, y, style.colour, tips, size=7, symbol=style.symbol, arm=arm),
            )
        panels.append(panel)
    return Figure(panels) if panels else None


def _by_connections(one: LoadProfile, unit: LoadUnit) -> bool:
    """Whether loads differ by clients, and the connections that ran transactions are known."""
    return unit is LoadUnit.CLIENTS and one.connections is not None


def _place(one: LoadProfile, unit: LoadUnit) -> float:
    return float(one.connections or 0) if _by_connections(one, unit) else one.level


def _words(known: Sequence[LoadProfile], unit: LoadUnit) -> str:
    return tr("connections") if _by_connections(known[0], unit) else str(unit.words)
