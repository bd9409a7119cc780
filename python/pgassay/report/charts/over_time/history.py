"""One metric over the runs of a history.

Enters: series. Leaves: a chart with a point for each run, and its levels. Never: fits a trend.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pgassay.analysis.apart.model import ApartRun
from pgassay.analysis.history.model import HistoryAnalysis, Series
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.history.levels import begun_on, size_of
from pgassay.findings.wording import quantity
from pgassay.language import tr
from pgassay.quantities import with_unit
from pgassay.report.charts.style import BLUE, ORANGE, limits, shade
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Points, Text

_PLOT_PX = 260


def series_chart(found: Sequence[Series], analysis: HistoryAnalysis) -> Figure:
    """Draws series below each other, each with the name of its arm."""
    return Figure([_panel(one, analysis) for one in found], has_arms=False)


def _panel(one: Series, analysis: HistoryAnalysis) -> Panel:
    metric = METRICS[one.metric]
    begun = [analysis.runs[place].trials[0].whole.start_ns / 1e9 for place in one.runs]
    room = max(0.02 * (begun[-1] - begun[0]), 60.0)
    needed = [*(point.value for point in one.points), *one.means]
    bounds = (end for point in one.points for end in (point.low, point.high) if end is not None)
    low, high = limits(needed, bounds)
    panel = Panel(
        Axis(tr("begin of the run, UTC"), kind="time", low=begun[0] - room, high=begun[-1] + room),
        Axis(with_unit(str(metric.title).lower(), metric.unit), low=low, high=high),
        _PLOT_PX,
        one.arm,
    )
    for change in one.changes:
        panel.add(shade(begun[change.shift.earliest - 1], begun[change.shift.latest]))
    for number, (first, last) in enumerate(pairwise((*one.levels.begins, len(begun)))):
        level = (one.means[number],) * 2
        panel.add(Line((begun[first], begun[last - 1]), level, ORANGE, width=3.0))
    for change in one.changes:
        at = begun[change.shift.at]
        panel.add(Text(str(size_of(change)), at, None, "middle", dy=14, bold=True))
    points = zip(one.runs, one.points, strict=True)
    tips = [_tip(analysis.runs[place], point, metric) for place, point in points]
    errors = [None if p.low is None or p.high is None else (p.low, p.high) for p in one.points]
    values = [point.value for point in one.points]
    panel.add(Points(begun, values, BLUE, tips, size=7, errors=errors))
    return panel


def _tip(run: ApartRun, point: Estimate, metric: Metric) -> tuple[str, ...]:
    return quantity(point.value, metric), run.name, begun_on(run)
