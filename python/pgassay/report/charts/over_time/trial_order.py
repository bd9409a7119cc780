"""The primary metric of every trial, in the order they ran.

Enters: the trials' measures. Leaves: a chart, every other block shaded: it shows drift and the
random order. Never: fits a trend.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from pgassay.analysis.model import Analysis, TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import quantity
from pgassay.language import tr
from pgassay.quantities import with_unit
from pgassay.report.charts.style import ArmStyle, shade_blocks
from pgassay.report.svg.model import Axis, Figure, Line, Panel, Points

_PLOT_PX = 250


def trial_order_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> Figure | None:
    """Draws trials in the order they were run; returns None where no trial has a value."""
    metric = METRICS[analysis.answer.metric]
    trials = [
        t for t in analysis.answer.trials if t.arm in styles and _value(t, metric.name) is not None
    ]
    if not trials:
        return None
    # A repeated trial has a number beyond the plan's last, so numbers have gaps.
    places = {trial.number: float(place) for place, trial in enumerate(trials, start=1)}
    shaded, middles = shade_blocks([trial.block for trial in trials])
    panel = Panel(
        Axis(
            tr("block") if len(styles) > 1 else tr("trial"),
            low=0.4,
            high=len(trials) + 0.6,
            ticks=[(middle, str(block)) for block, middle in middles.items()],
            grid=False,
        ),
        Axis(with_unit(metric.title.lower(), metric.unit)),
        _PLOT_PX,
    )
    panel.add(*shaded)
    for arm, style in styles.items():
        own = [trial for trial in trials if trial.arm == arm]
        values = [trial.whole.values[metric.name] for trial in own]
        x = [places[trial.number] for trial in own]
        tips = [
            (
                quantity(value, metric),
                tr(
                    "trial {number}, block {block}, position {position}",
                    number=trial.number,
                    block=trial.block,
                    position=trial.position,
                ),
                style.label,
            )
            for trial, value in zip(own, values, strict=True)
        ]
        panel.add(
            Line(x, values, style.colour, width=1.2, opacity=0.35, arm=arm),
            Points(x, values, style.colour, tips, size=9, symbol=style.symbol, arm=arm),
        )
    return Figure([panel])


def _value(trial: TrialMeasures, metric: str) -> float | None:
    value = trial.whole.values.get(metric)
    return value if value is not None and math.isfinite(value) else None
