"""Throughput and latency, second by second.

Enters: the trials' series. Leaves: a chart with a panel of each on one time axis, a thin line per
trial or a band from the lowest to the highest, a thick line per arm, the warm-up shaded, and rows
of what happened. Never: smooths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.analysis.measures.courses.chart_series import (
    ChartSeries,
    Timed,
    mean_by_second,
    p99_by_second,
    range_by_second,
)
from pgassay.language import decimals, tr
from pgassay.plan.model import Plan
from pgassay.quantities import load
from pgassay.report.charts.over_time.happenings import happenings
from pgassay.report.charts.style import (
    ArmStyle,
    arm_line,
    arm_named,
    arms_of_panels,
    dotted,
    shade,
)
from pgassay.report.svg.model import Axis, Band, Figure, Line, Mark, Panel, Text

TIME_ZOOM = "trial"
"""Charts over the time of a trial are zoomed together."""
_TPS_PX, _LATENCY_PX = 280, 200
_OPACITY = ((12, 0.45), (24, 0.2), (float("inf"), 0.1))
"""Of a trial's line, with up to so many trials."""
_LABELLED_STEPS = 3
"""Up to so many steps the word "clients" fits beside each number."""


def throughput_chart(
    series: Sequence[ChartSeries],
    plan: Plan,
    styles: Mapping[str, ArmStyle],
    *,
    has_bands: bool = False,
    apart: bool = False,
) -> Figure | None:
    """Draws trials as lines, or as bands of each arm; returns None where no trial has a second.
    With `apart` each arm's throughput has a panel of its own."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    if not drawn:
        return None
    across = trial_axis(drawn)
    panels = []
    for arms in arms_of_panels(styles, apart=apart):
        own = [trial for trial in drawn if trial.arm in arms]
        if not own:
            continue
        title = f"{tr('transactions per second')}{arm_named(arms, apart=apart)}"
        panels.append(Panel(across, Axis(title, from_zero=apart), _TPS_PX))
        panels[-1].add(*background(drawn, plan, _TPS_PX), *_throughput(own, arms, has_bands))
    if latencies := list(_latencies(drawn, styles, has_bands)):
        what = tr("response time") if drawn[0].latency.of == "response" else tr("latency")
        up = Axis(tr("99th percentile of {what}, milliseconds", what=what), kind="log")
        panels.append(Panel(across, up, _LATENCY_PX))
        panels[-1].add(*background(drawn, plan), *latencies)
    return Figure([*panels, *happenings(drawn, styles, across)], zoom=TIME_ZOOM)


def has_rows(chart: Figure) -> bool:
    """Returns whether anything happened that is drawn beneath throughput and latency."""
    return any(panel.height not in (_TPS_PX, _LATENCY_PX) for panel in chart.panels)


def trial_axis(series: Sequence[ChartSeries]) -> Axis:
    """Makes the axis of time within a trial (s), as long as the longest one."""
    first = min(trial.offset_s[0] for trial in series if trial.offset_s)
    last = max(trial.offset_s[-1] for trial in series if trial.offset_s)
    room = 0.01 * (last - first) or 0.5
    title = tr("seconds since the measurement began")
    return Axis(title, low=first - room, high=last + room, unit=tr(" s"))


def background(
    series: Sequence[ChartSeries], plan: Plan, labelled_px: int | None = None
) -> Iterator[Mark]:
    """Shades the warm-up and the steps, and names them in a panel that is so high (px)."""
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
            level = levels[index]
            text = load(level, plan.step_unit) if few else decimals(level, "g")
            yield Text(text, x=begin, dx=4, dy=12)
        begin += step.duration_s


def _throughput(
    series: Sequence[ChartSeries], styles: Mapping[str, ArmStyle], has_bands: bool
) -> Iterator[Mark]:
    courses = [(trial.arm, (trial.offset_s, trial.tps)) for trial in series]
    yield from _trials(courses, styles, has_bands)
    for arm in styles:
        points = mean_by_second(series, arm)
        yield from _thick(
            points, styles[arm], tr("mean of {label}", label=styles[arm].label), "tps"
        )


def _latencies(
    series: Sequence[ChartSeries], styles: Mapping[str, ArmStyle], has_bands: bool
) -> Iterator[Mark]:
    courses = [(trial.arm, (trial.latency.offset_s, trial.latency.p99_ms)) for trial in series]
    yield from _trials([one for one in courses if one[1][0]], styles, has_bands)
    for arm in styles:
        points = p99_by_second(series, arm)
        yield from _thick(
            points, styles[arm], tr("p99 of {label}", label=styles[arm].label), tr("ms")
        )


def _trials(
    courses: Sequence[tuple[str, Timed]], styles: Mapping[str, ArmStyle], has_bands: bool
) -> Iterator[Line | Band]:
    """A thin line for each trial, or a band for each arm that has several."""
    if not has_bands:
        opacity = next(share for most, share in _OPACITY if len(courses) <= most)
        for arm, (x, y) in courses:
            yield Line(x, y, styles[arm].colour, width=1.0, opacity=opacity, arm=arm)
        return
    for arm, style in styles.items():
        own = [course for of, course in courses if of == arm]
        if len(own) > 1:
            offsets, low, high = zip(*range_by_second(own), strict=True)
            yield Band(offsets, low, high, style.colour, arm=arm)


def _thick(
    points: Sequence[tuple[float, float | None]], style: ArmStyle, name: str, unit: str
) -> Iterator[Line]:
    if points:
        x, y = [at for at, _ in points], [value for _, value in points]
        yield arm_line(style, x, y, 2.6, name, unit)
