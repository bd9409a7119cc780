"""Signals around the start of a checkpoint, one small panel each, on one axis of time.

Enters: the causes of dips by arm. Leaves: a chart, None where nothing was sampled.
Never: computes a profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.analysis.curves.checkpoints.model import CheckpointCauses, SignalProfile
from pgassay.language import comma, tr
from pgassay.quantities import with_unit
from pgassay.report.charts.style import INK, ArmStyle
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Rule

_PANEL_PX = 76


def signals_chart(
    causes: Sequence[CheckpointCauses], styles: Mapping[str, ArmStyle]
) -> Figure | None:
    """Draws a panel for each signal that changes in any arm, in the order of the analysis."""
    titles: dict[str, SignalProfile] = {}
    for one in causes:
        for signal in one.signals:
            if len(set(signal.known)) > 1:
                titles.setdefault(signal.name, signal)
    across = Axis(tr("seconds from the start of a checkpoint"), unit=tr(" s"))
    panels = []
    for name, signal in titles.items():
        titled = with_unit(signal.title, signal.unit)
        panel = Panel(across, Axis(titled, from_zero=True, most_ticks=3), _PANEL_PX)
        panel.add(Rule(INK, x=0.0, width=1.2))
        for one in causes:
            own = next((each for each in one.signals if each.name == name), None)
            if own is not None and one.arm in styles:
                style = styles[one.arm]
                panel.add(
                    Line(
                        one.offset_s,
                        own.values,
                        style.colour,
                        dash=style.dash,
                        arm=one.arm,
                        name=f"{signal.title}{comma()}{style.label}",
                        unit=signal.unit,
                    )
                )
        panels.append(panel)
    return Figure(panels, zoom="checkpoint") if panels else None
