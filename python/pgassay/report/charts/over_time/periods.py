"""Figures of two periods over the time since each began.

Enters: a comparison of periods. Leaves: a chart with a panel for each figure, and a line for each
period. Never: smooths a line, or closes a hole in it.
"""

from __future__ import annotations

from pgassay.analysis.observation.periods.model import Course, PeriodsAnalysis
from pgassay.findings.observation.periods import title_of
from pgassay.language import tr
from pgassay.report.charts.style import BLUE, ORANGE
from pgassay.report.svg.model import Axis, Figure, Line, Panel

_PLOT_PX = 120
_COLOURS = (ORANGE, BLUE)


def periods_chart(analysis: PeriodsAnalysis) -> Figure | None:
    """Draws the courses below each other; None where there are none."""
    if not analysis.courses:
        return None
    labels = (tr("Baseline"), tr("Compared"))
    panels = [_panel(one, analysis) for one in analysis.courses]
    return Figure(panels, key=tuple(zip(labels, _COLOURS, strict=True)), has_arms=False)


def _panel(one: Course, analysis: PeriodsAnalysis) -> Panel:
    figure = one.figure
    long_s = max(period.seconds for period in analysis.periods)
    across = Axis(tr("seconds since the period began"), low=0.0, high=long_s, grid=False)
    title = str(title_of(figure, analysis))
    panel = Panel(across, Axis(figure.unit, from_zero=True), _PLOT_PX, title)
    names = (period.label for period in analysis.periods)
    for seconds, values, colour, name in zip(one.seconds, one.values, _COLOURS, names, strict=True):
        panel.add(Line(seconds, values, colour, name=name, unit=figure.unit))
    return panel
