"""The density of each scenario's latency in each arm.

Enters: the modes. Leaves: a chart with a panel per scenario, both axes logarithmic, because a slow
mode of a few per cent cannot be seen otherwise. Never: estimates a density.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pgassay.analysis.curves.modes.model import LatencyModes
from pgassay.language import tr
from pgassay.quantities import latency, plain_number
from pgassay.report.charts.style import ArmStyle
from pgassay.report.svg.model import Axis, Figure, Line, Mark, Panel, Points

_PANEL_PX = 200
_MOST_PANELS = 6
_LEAST_OF_PEAK = 1e-4
"""Of the highest density of a panel: what lies lower is a few transactions and not drawn."""


def modes_chart(shown: Sequence[LatencyModes], styles: Mapping[str, ArmStyle]) -> Figure | None:
    """Draws the scenarios with the most transactions; returns None without any."""
    panels = []
    for scenario in panels_of(shown):
        own = [one for one in shown if one.scenario == scenario and one.arm in styles]
        panels.append(_panel(scenario, own, styles))
    return Figure(panels) if panels else None


def panels_of(shown: Sequence[LatencyModes]) -> list[str]:
    """Returns the scenarios that are drawn."""
    counts = dict.fromkeys((one.scenario for one in shown), 0)
    for one in shown:
        counts[one.scenario] += one.transactions
    return sorted(counts, key=lambda name: -counts[name])[:_MOST_PANELS]


def _panel(scenario: str, own: Sequence[LatencyModes], styles: Mapping[str, ArmStyle]) -> Panel:
    least = _LEAST_OF_PEAK * max(value for one in own for _, value in one.density)
    # Scenarios have latencies of their own, so each panel has its own axis, numbers included.
    drawn = {one.arm: [(ms, value) for ms, value in one.density if value >= least] for one in own}
    fastest = min(ms for points in drawn.values() for ms, _ in points)
    slowest = max(ms for points in drawn.values() for ms, _ in points)
    panel = Panel(
        Axis(tr("latency, ms"), kind="log", low=fastest * 0.95, high=slowest * 1.05),
        Axis("", kind="log", suffix=" %", most_ticks=4),
        _PANEL_PX,
        title=scenario,
    )
    for one in own:
        panel.add(*_marks(one, drawn[one.arm], styles[one.arm]))
    return panel


def _marks(
    one: LatencyModes, points: Sequence[tuple[float, float]], style: ArmStyle
) -> Iterator[Mark]:
    """The density as a line, the peak of each mode as a symbol, the mean as a cross."""
    places, values = np.array(points).T
    yield Line(list(places), list(values), style.colour, dash=style.dash, arm=one.arm)
    peaks = [mode.peak_ms.value for mode in one.modes]
    at = [*peaks, one.mean_ms.value]
    heights = list(np.exp(np.interp(np.log(at), np.log(places), np.log(values))))
    tips = [
        (
            style.label,
            tr(
                "mode at {value}: {value2} % of the transactions",
                value=latency(mode.peak_ms.value),
                value2=plain_number(mode.share_pct.value),
            ),
        )
        for mode in one.modes
    ]
    yield Points(peaks, heights[:-1], style.colour, tips, size=9, symbol=style.symbol, arm=one.arm)
    mean = (style.label, tr("mean {value}", value=latency(one.mean_ms.value)))
    yield Points(at[-1:], heights[-1:], style.colour, (mean,), size=9, symbol="cross", arm=one.arm)
