"""One picture of a history of runs, for a dashboard.

Enters: the context of a history. Leaves: an SVG file with the primary metric of each arm.
Never: needs a style sheet or a script.
"""

from __future__ import annotations

from pgassay.report.charts.over_time.history import series_chart
from pgassay.report.context import HistoryContext
from pgassay.report.svg.draw import WIDE_PX, draw

_AROUND_PX = 16
"""White around the picture, which may stand on a dark page."""


def render_svg(context: HistoryContext) -> str:
    """Draws the primary metric over the runs, arm by arm."""
    analysis = context.analysis
    found = [one for one in analysis.series if one.metric == analysis.metric]
    figure = series_chart(found, analysis)
    return draw(figure, WIDE_PX, "history", context.title, (), _AROUND_PX)
