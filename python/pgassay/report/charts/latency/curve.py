"""The latency of each arm by quantile, slow transactions spread out.

Enters: the latency curves. Leaves: a chart of all scenarios together: a line per arm through all
its trials' transactions, and the range of the trials. Never: computes a quantile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pgassay.analysis.curves.model import ArmLatencyCurve
from pgassay.analysis.measures.courses.latencies import ALL
from pgassay.language import decimals, tr
from pgassay.quantities import latency
from pgassay.report.charts.style import ArmStyle
from pgassay.report.svg.model import Axis, Band, Figure, Line, Panel, Points

_PLOT_PX = 300
NAMED = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)
_ON_AXIS = tuple(share for share in NAMED if share != 0.95)


def latency_curve_chart(
    curves: Sequence[ArmLatencyCurve], styles: Mapping[str, ArmStyle]
) -> Figure | None:
    """Draws latency by quantile; returns None where no latency was logged."""
    drawn = [one for one in curves if one.scenario == ALL and one.arm in styles]
    if not drawn:
        return None
    what = tr("response time") if drawn[0].of == "response" else tr("latency")
    last = max(one.shares[-1] for one in drawn)
    ticks = [(nines(share), percent(share)) for share in _ON_AXIS if share <= last]
    panel = Panel(
        Axis(tr("share of transactions that were faster"), ticks=ticks),
        Axis(tr("{what}, milliseconds", what=what), kind="log"),
        _PLOT_PX,
    )
    for one in drawn:
        style = styles[one.arm]
        places = [nines(share) for share in one.shares]
        panel.add(
            Band(places, one.low_ms, one.high_ms, style.colour, arm=one.arm),
            Line(places, one.latency_ms, style.colour, 2.5, style.dash, arm=one.arm),
        )
    for one in drawn:
        style = styles[one.arm]
        named = [(share, ms) for share in NAMED if (ms := one.at(share)) is not None]
        panel.add(
            Points(
                [nines(share) for share, _ in named],
                [ms for _, ms in named],
                style.colour,
                [
                    (
                        tr(
                            "p{share}: {value}",
                            share=decimals(100 * share, "g"),
                            value=latency(ms),
                        ),
                        style.label,
                    )
                    for share, ms in named
                ],
                size=7,
                symbol=style.symbol,
                arm=one.arm,
            )
        )
    return Figure([panel])


def nines(share: float) -> float:
    """Returns the place of a quantile on an axis on which 90, 99 and 99.9 % are equally far
    apart."""
    return -math.log10(1 - share)


def percent(share: float) -> str:
    """Writes a quantile as per cent, such as `99.9 %`."""
    return f"{decimals(100 * share, 'g')}\xa0%"
