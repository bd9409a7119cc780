"""Throughput and the slow end of latency by load, of runs made apart.

Enters: what each side reached at each load. Leaves: a chart with a panel of each, a line per side
through its means, and bars from its lowest trial to its highest. Never: fits a curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.analysis.apart.model import AtLoad
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import quantity
from pgassay.language import listed, tr
from pgassay.quantities import LoadUnit, load
from pgassay.report.charts.effects.load_curve import loads_axis
from pgassay.report.charts.style import ArmStyle, limits
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Points

_TPS_PX, _LATENCY_PX = 280, 200


def side_loads_chart(
    points: Sequence[AtLoad], unit: LoadUnit, styles: Mapping[str, ArmStyle]
) -> Figure | None:
    """Draws both sides by load; returns None where trials have a single load."""
    metrics = _shown_metrics(points)
    if not metrics:
        return None
    across = loads_axis(sorted({one.load for one in points}), unit)
    panels = []
    for metric in metrics:
        own = [one for one in points if one.metric == metric]
        if metric == "tps":
            _, highest = limits([0.0, *(one.high for one in own)], ())
            up, height = Axis(tr("transactions per second"), low=0.0, high=highest), _TPS_PX
        else:
            what = tr("response time") if metric.startswith("response") else tr("latency")
            title = tr("99th percentile of {what}, milliseconds", what=what)
            up, height = Axis(title, kind="log"), _LATENCY_PX
        panel = Panel(across, up, height)
        for side, style in styles.items():
            _add_side(panel, [one for one in own if one.side == side], unit, style)
        panels.append(panel)
    return Figure(panels)


def _shown_metrics(points: Sequence[AtLoad]) -> list[str]:
    """Returns the metrics shown: throughput, then response time or, in a closed loop, latency."""
    known = {one.metric for one in points}
    slow = "response_p99" if "response_p99" in known else "latency_p99"
    return [metric for metric in ("tps", slow) if metric in known]


def _add_side(panel: Panel, points: Sequence[AtLoad], unit: LoadUnit, style: ArmStyle) -> None:
    if not points:
        return
    x, y = [one.load for one in points], [one.mean for one in points]
    panel.add(
        Line(x, y, style.colour, 2.0, style.dash, opacity=0.7, arm=style.id),
        Points(
            x,
            y,
            style.colour,
            [
                (
                    listed((style.label, load(one.load, unit))),
                    listed((quantity(one.mean, METRICS[one.metric]), _range_words(one))),
                )
                for one in points
            ],
            size=9,
            symbol=style.symbol,
            arm=style.id,
            errors=[(one.low, one.high) for one in points],
        ),
    )


def _range_words(one: AtLoad) -> str:
    """Writes the range of trials, such as `trials 812 tps to 897 tps`."""
    metric = METRICS[one.metric]
    return tr(
        "trials {low} to {high}", low=quantity(one.low, metric), high=quantity(one.high, metric)
    )
