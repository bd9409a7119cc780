"""Throughput and busy sessions over the time observed, with the incidents shaded.

Enters: incidents. Leaves: a chart. Never: smooths what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.observation.incidents.model import Incidents
from pgassay.language import tr
from pgassay.report.charts.style import BLUE, ORANGE, shade, utc_axis
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Text

_PLOT_PX = 170


def incidents_chart(found: Incidents) -> Figure | None:
    """Draws both courses below each other; each incident is shaded and has its number."""
    if not found.course.starts_ns:
        return None
    tps = _panel(found, tr("transactions per second"), found.course.tps, BLUE, tr("/s"))
    sessions = _panel(found, tr("average active sessions"), found.course.sessions, ORANGE, "")
    for number, one in enumerate(found.found, start=1):
        middle = (one.start_ns + one.end_ns) / 2e9
        tps.add(Text(str(number), middle, None, "middle", dy=12, bold=True))
    return Figure([tps, sessions], zoom="time", has_arms=False)


def _panel(found: Incidents, title: str, values: Sequence[float], colour: str, unit: str) -> Panel:
    panel = Panel(utc_axis(found.start_ns, found.end_ns), Axis(title, from_zero=True), _PLOT_PX)
    panel.add(*(shade(one.start_ns / 1e9, one.end_ns / 1e9) for one in found.found))
    times = [start / 1e9 for start in found.course.starts_ns]
    panel.add(Line(times, list(values), colour, width=1.4, name=title, unit=unit))
    return panel
