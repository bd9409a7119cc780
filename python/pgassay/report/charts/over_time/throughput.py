"""Throughput and latency, second by second.

Enters: the trials' series. Leaves: a chart with a panel of each on one time axis, a thin line per
trial, a thick one per arm, the warm-up shaded, and rows of what happened. Never: smooths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.analysis.measures.courses.chart_series import (
    ChartSeries,
    mean_by_second,
    p99_by_second,
)
from pgassay.language import decimals, tr
from pgassay.plan.model import Plan
from pgassay.report.charts.over_time.happenings import happenings
from pgassay.report.charts.style import ArmStyle, dotted, shade
from pgassay.report.svg.model import Axis, Figure, Line, Mark, Panel, Text

TIME_ZOOM = "trial"
"""Charts over the time of a trial are zoomed together."""
_TPS_PX, _LATENCY_PX = 280, 200
_OPACITY = ((12, 0.45), (24, 0.2), (float("inf"), 0.1))
"""Of a trial's line, with up to so many trials."""
_LABELLED_STEPS = 3
"""Up to so many steps the word "clients" fits beside each number."""


def throughput_chart(
    series: Sequence[ChartSeries], plan: Plan, styles: Mapping[str, ArmStyle]
) -> Figure | None:
    """The chart, or None where no trial has a second."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    if not drawn:
        return None
    across = trial_axis(drawn)
    panels = [Panel(across, Axis(tr("transactions per second")), _TPS_PX)]
    panels[0].add(*background(drawn, plan, _TPS_PX), *_throughput(drawn, styles))
    if latencies := list(_latencies(drawn, styles)):
        what = tr("response time") if drawn[0].latency.of == "response" else tr("latency")
        up = Axis(tr("99th percentile of {what}, milliseconds", what=what), kind="log")
        panels.append(Panel(across, up, _LATENCY_PX))
        panels[1].add(*background(drawn, plan), *latencies)
    return Figure([*panels, *happenings(drawn, styles, across)], zoom=TIME_ZOOM)


def has_rows(chart: Figure) -> bool:
    """Whether anything happened that is drawn beneath throughput and latency."""
    return any(panel.height not in (_TPS_PX, _LATENCY_PX) for panel in chart.panels)


def trial_axis(series: Sequence[ChartSeries]) -> Axis:
    """The time of a trial, over all of them."""
    first = min(trial.offset_s[0] for trial in series if trial.offset_s)
    last = max(trial.offset_s[-1] for trial in series if trial.offset_s)
    room = 0.01 * (last - first) or 0.5
    title = tr("seconds since the measurement began")
    return Axis(title, low=first - room, high=last + room, unit=tr(" s"))


def background(
    series: Sequence[ChartSeries], plan: Plan, labelled_px: int | None = None
) -> Iterator[Mark]:
    """The warm-up and the steps; with their names in a panel that is so high."""
    first = min(trial.offset_s[0] for trial in series)
    if first < 0:
        yield shade(first, 0)
        if labelled_px is not None:
            yield Text(tr("warm-up"), x=first, dx=4, dy=labelled_px - 6)
    measured = [step for step in plan.steps if step.measured]
    levels = plan.step_levels()
    begin = 0.0
    # Shuffled steps begin at other times in every block, so they cannot be labelled.
    are_labelled = len(measured) > 1 and plan.order == "ordered"
    for index, step in enumerate(measured if are_labelled else ()):
        yield dotted(begin)
        if labelled_px is not None:
            few = len(measured) <= _LABELLED_STEPS or index == 0
            text = (
                f"{decimals(levels[index], 'g')} {plan.step_unit}"
                if few
                else decimals(levels[index], "g")
            )
            yield Text(text, x=begin, dx=4, dy=12)
        begin += step.duration_s


def _throughput(series: Sequence[ChartSeries], styles: Mapping[str, ArmStyle]) -> Iterator[Mark]:
    for trial in series:
        yield _thin(trial.offset_s, trial.tps, styles[trial.arm], len(series))
    for arm in styles:
        points = mean_by_second(series, arm)
        yield from _thick(
            points, styles[arm], tr("mean of {label}", label=styles[arm].label), "tps"
        )


def _latencies(series: Sequence[ChartSeries], styles: Mapping[str, ArmStyle]) -> Iterator[Mark]:
    for trial in series:
        course = trial.latency
        if course.offset_s:
            yield _thin(course.offset_s, course.p99_ms, styles[trial.arm], len(series))
    for arm in styles:
        points = p99_by_second(series, arm)
        yield from _thick(
            points, styles[arm], tr("p99 of {label}", label=styles[arm].label), tr("ms")
        )


def _thin(
    offsets: Sequence[float], values: Sequence[float | None], style: ArmStyle, trials: int
) -> Line:
    opacity = next(share for most, share in _OPACITY if trials <= most)
    return Line(offsets, values, style.colour, width=1.0, opacity=opacity, arm=style.id)


def _thick(
    points: Sequence[tuple[float, float | None]], style: ArmStyle, name: str, unit: str
) -> Iterator[Line]:
    if points:
        x, y = [at for at, _ in points], [value for _, value in points]
        yield Line(x, y, style.colour, 2.6, style.dash, arm=style.id, name=name, unit=unit)
