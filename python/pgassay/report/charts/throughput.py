"""Throughput, second by second.

Enters: the trials' series. Leaves: a chart with a thin line per trial, a thick one per arm, the
warm-up shaded and a row of checkpoints per arm above. Never: smooths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.analysis.measures.courses.chart_series import ChartSeries, mean_by_second
from pgassay.plan.model import Plan
from pgassay.report.charts.style import ArmStyle, dotted, shade
from pgassay.report.svg.model import Axis, Figure, Line, Mark, Panel, Points, Text

_PLOT_PX = 330
_MOST_RUG_PX = 72
"""The greatest height of all rows of checkpoints."""
_LABELLED_STEPS = 3
"""Up to so many steps the word "clients" fits beside each number."""


def throughput_chart(
    series: Sequence[ChartSeries], plan: Plan, styles: Mapping[str, ArmStyle]
) -> Figure | None:
    """The chart, or None where no trial has a second."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    if not drawn:
        return None
    arms = [arm.id for arm in plan.arms if any(trial.arm == arm.id for trial in drawn)]
    low, high = _extent(drawn)
    across = Axis("seconds since the measurement began", low=low, high=high, unit=" s")
    panel = Panel(across, Axis("transactions per second"), _PLOT_PX)
    panel.add(*_background(drawn, plan))
    panel.add(*_trials(drawn, styles), *_means(drawn, arms, styles))
    marked = [a for a in arms if any(t.arm == a and t.checkpoints_s for t in drawn)]
    rug = [_checkpoints(drawn, marked, styles, across)] if marked else []
    return Figure([*rug, panel], zoom="trial")


def _trials(series: Sequence[ChartSeries], styles: Mapping[str, ArmStyle]) -> Iterator[Mark]:
    opacity = 0.45 if len(series) <= 12 else 0.3
    for trial in series:
        style = styles[trial.arm]
        yield Line(
            trial.offset_s, trial.tps, style.colour, width=1.0, opacity=opacity, arm=trial.arm
        )


def _means(
    series: Sequence[ChartSeries], arms: Sequence[str], styles: Mapping[str, ArmStyle]
) -> Iterator[Mark]:
    for arm in arms:
        style = styles[arm]
        points = mean_by_second(series, arm)
        yield Line(
            [second for second, _ in points],
            [tps for _, tps in points],
            style.colour,
            width=2.6,
            dash=style.dash,
            arm=arm,
            name=f"mean of {style.label}",
            unit="tps",
        )


def _checkpoints(
    series: Sequence[ChartSeries],
    arms: Sequence[str],
    styles: Mapping[str, ArmStyle],
    across: Axis,
) -> Panel:
    row_px = min(15, max(7, _MOST_RUG_PX // len(arms)))
    rug = Panel(across, Axis(low=len(arms) - 0.5, high=-0.5, hidden=True), row_px * len(arms))
    for row, arm in enumerate(arms):
        marks = [
            (start, f"checkpoint ({cause}), {_span(start, end)}\ntrial {trial.number}")
            for trial in series
            if trial.arm == arm
            for start, end, cause in trial.checkpoints_s
        ]
        rug.add(
            Points(
                [start for start, _ in marks],
                [row] * len(marks),
                styles[arm].colour,
                [text for _, text in marks],
                size=row_px - 3,
                symbol="tick",
                arm=arm,
            )
        )
    return rug


def _span(start: float, end: float | None) -> str:
    return f"{start:.1f} s, end unknown" if end is None else f"{start:.1f} to {end:.1f} s"


def _background(series: Sequence[ChartSeries], plan: Plan) -> Iterator[Mark]:
    first = min(trial.offset_s[0] for trial in series)
    if first < 0:
        yield shade(first, 0)
        yield Text("warm-up", x=first, dx=4, dy=_PLOT_PX - 6)
    measured = [step for step in plan.steps if step.measured]
    levels = plan.step_levels()
    begin = 0.0
    # Shuffled steps begin at other times in every block, so they cannot be labelled.
    are_labelled = len(measured) > 1 and plan.order == "ordered"
    for index, step in enumerate(measured if are_labelled else ()):
        few = len(measured) <= _LABELLED_STEPS or index == 0
        text = f"{levels[index]:g} {plan.step_unit}" if few else f"{levels[index]:g}"
        yield dotted(begin)
        yield Text(text, x=begin, dx=4, dy=12)
        begin += step.duration_s


def _extent(series: Sequence[ChartSeries]) -> tuple[float, float]:
    first = min(trial.offset_s[0] for trial in series)
    last = max(trial.offset_s[-1] for trial in series)
    room = 0.01 * (last - first) or 0.5
    return first - room, last + room
