"""Where a transaction's time goes.

Enters: the arms' means. Leaves: a stacked bar per arm. Never: samples or classifies waits.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.analysis.model import Analysis, ArmSummary
from pgassay.analysis.reading.metrics import METRICS, TIME_PARTS, WAIT_CLASSES, WaitClass
from pgassay.findings.wording import quantity
from pgassay.language import tr
from pgassay.quantities import spaced, time_digits
from pgassay.report.charts.style import CLASS_COLOURS, GREY, ArmStyle
from pgassay.report.svg.model import Axis, Box, Figure, Panel, Text

_ROW_PX = 60
_BAR = (-0.02, 0.4)
"""Where a row's bar begins and ends, in rows from its middle."""
_LABEL_ABOVE_PX = -7


def waits_chart(analysis: Analysis, styles: Mapping[str, ArmStyle]) -> Figure | None:
    """Draws sampled waits; returns None where none was sampled."""
    classes = present_classes(analysis)
    if not classes:
        return None
    arms = analysis.answer.arms
    panel = Panel(
        Axis(tr("milliseconds per transaction"), from_zero=True),
        Axis(low=len(arms) - 0.5, high=-0.5, hidden=True),
        len(arms) * _ROW_PX,
    )
    for row, arm in enumerate(arms):
        top, bottom = row + _BAR[0], row + _BAR[1]
        panel.add(Text(styles[arm.id].short, y=top, dy=_LABEL_ABOVE_PX))
        digits = time_digits(sum(mean_of(arm, part) for part in WAIT_CLASSES))
        # Parallel workers, and what the samples leave, are drawn to the left where below zero.
        ends = {True: 0.0, False: 0.0}
        for part in classes:
            value, metric = mean_of(arm, part), METRICS[part.metric]
            start = ends[value < 0]
            ends[value < 0] += value
            panel.add(
                Box(
                    start,
                    start + value,
                    top,
                    bottom,
                    CLASS_COLOURS.get(part.name, GREY),
                    tip=(
                        tr(
                            "{part}: {value} per transaction",
                            part=part.title,
                            value=quantity(value, metric),
                        ),
                        arm.label,
                    ),
                    text=spaced(value, digits),
                )
            )
    return Figure([panel])


def present_classes(analysis: Analysis) -> list[WaitClass]:
    """Parts of a transaction's time that any arm has."""
    present = [
        part for part in TIME_PARTS if any(mean_of(arm, part) for arm in analysis.answer.arms)
    ]
    return present if any(part in WAIT_CLASSES for part in present) else []


def mean_of(arm: ArmSummary, wait_class: WaitClass) -> float:
    """Returns an arm's mean time in a class of waits, in milliseconds per transaction."""
    return arm.means.get(wait_class.metric, 0.0)
