"""Average active sessions over the time of a trial, and what most of them waited for.

Enters: the trials' samples; rows of names with a value for each arm. Leaves: a chart with a stacked
panel per arm on one scale, and one of bars by event, statement and scenario.
Never: classifies waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pgassay.analysis.measures.courses.chart_samples import (
    Course,
    SampledCourse,
    mean_course,
)
from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.analysis.reading.metrics import WAIT_CLASSES
from pgassay.language import decimals, tr
from pgassay.plan.model import Plan
from pgassay.report.charts.over_time.throughput import TIME_ZOOM, background, trial_axis
from pgassay.report.charts.style import CLASS_COLOURS, GREY, ArmStyle
from pgassay.report.svg.model import Axis, Band, Box, Figure, Panel, Text

_PLOT_PX = 130
_BAR_PX, _NAME_PX = 13, 21
_CLIENT = "client"
_LEAST = 0.005
"""Average sessions of a class that can be seen at all."""
_FONT_UP_PX = 6


def sessions_chart(
    series: Sequence[ChartSeries], plan: Plan, styles: Mapping[str, ArmStyle]
) -> Figure | None:
    """Means of each arm's trials; None where no busy session was sampled."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    stacks = {arm: stack for arm in styles if (stack := _stack(drawn, arm))}
    if not stacks:
        return None
    present = {name for stack in stacks.values() for name, _, _ in stack}
    classes = [one for one in WAIT_CLASSES if one.name in present]
    highest = max(
        sum(values[at] for _, _, values in stack)
        for stack in stacks.values()
        for at in range(len(stack[0][1]))
    )
    across = trial_axis(drawn)
    panels = []
    for arm, stack in stacks.items():
        up = Axis("", low=0.0, high=1.05 * highest, most_ticks=4)
        panel = Panel(across, up, _PLOT_PX, title=styles[arm].short if len(styles) > 1 else "")
        panel.add(*background(drawn, plan))
        below = [0.0] * len(stack[0][1])
        for name, middles, values in stack:
            above = [low + value for low, value in zip(below, values, strict=True)]
            title = next(one.title for one in classes if one.name == name)
            mean = decimals(sum(values) / len(values), ".2f")
            tip = tr("{title}: {number} sessions on average", title=title, number=mean)
            colour = CLASS_COLOURS.get(name, GREY)
            panel.add(Band(middles, below, above, colour, 0.85, arm, title, (tip,)))
            below = above
        panels.append(panel)
    key = [(one.title, CLASS_COLOURS.get(one.name, GREY)) for one in classes]
    return Figure(panels, key=key, zoom=TIME_ZOOM)


def _stack(series: Sequence[ChartSeries], arm: str) -> list[tuple[str, list[float], list[float]]]:
    """(class, middles, mean sessions) from the bottom up; a class that was never met is zero."""
    own = [trial.sampled for trial in series if trial.arm == arm and trial.sampled.sessions]
    found = []
    for one in WAIT_CLASSES:
        if one.name == _CLIENT:
            continue
        middles, values = mean_course(own, partial(_of_class, name=one.name))
        known = [value or 0.0 for value in values]
        if known and sum(known) / len(known) >= _LEAST:
            found.append((one.name, middles, known))
    return found


def _of_class(sampled: SampledCourse, name: str) -> Course:
    """A class that a trial never met is zero where others are known."""
    another = next(iter(sampled.sessions.values()))
    zero = tuple(None if value is None else 0.0 for value in another)
    return sampled.sessions.get(name, zero)


@dataclass(frozen=True)
class Ranked:
    """The largest of what sessions were busy with, in one respect."""

    title: str
    rows: Sequence[tuple[str, Mapping[str, float]]]
    """(name, arm → average active sessions), the largest first."""
    totals: Mapping[str, float]
    """Arm → average active sessions, those that are not listed included."""


def pareto_chart(ranked: Sequence[Ranked], styles: Mapping[str, ArmStyle]) -> Figure | None:
    """Draws bars on one scale, each with its value and its share of the arm's sessions."""
    drawn = [one for one in ranked if one.rows]
    if not drawn:
        return None
    highest = max(value for one in drawn for _, values in one.rows for value in values.values())
    # A third of the width is left for the words after the longest bar. Sums differ in their last
    # digits by their order, which must not move the drawing.
    across = Axis(tr("average active sessions"), low=0.0, high=round(1.35 * highest, 6))
    panels = [_bars(one, across, styles) for one in drawn]
    return Figure(panels)


def _bars(ranked: Ranked, across: Axis, styles: Mapping[str, ArmStyle]) -> Panel:
    arms = [arm for arm in styles if arm in ranked.totals]
    row_px = _NAME_PX + _BAR_PX * len(arms) + 6
    height = row_px * len(ranked.rows)
    panel = Panel(
        across, Axis(low=float(height), high=0.0, hidden=True), height, title=ranked.title
    )
    for row, (name, values) in enumerate(ranked.rows):
        top = float(row * row_px + _NAME_PX)
        panel.add(Text(name, y=top, dy=-_FONT_UP_PX))
        for at, arm in enumerate(arms):
            value, total = values.get(arm, 0.0), ranked.totals[arm]
            y0 = top + at * _BAR_PX
            share = f" ({decimals(100 * value / total, '.0f')} %)" if total else ""
            words = tr(
                "{value} sessions{share}, {label}",
                value=decimals(value, ".2f"),
                share=share,
                label=styles[arm].label,
            )
            colour = styles[arm].colour
            panel.add(Box(0.0, value, y0, y0 + _BAR_PX - 2, colour, 0.9, (words,), arm=arm))
            panel.add(Text(f"{decimals(value, '.2f')}{share}", x=value, y=y0, dx=5, dy=_BAR_PX - 3))
    return panel
