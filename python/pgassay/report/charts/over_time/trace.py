"""A trace over time.

Enters: what was traced. Leaves: charts on one time axis in UTC, checkpoints shaded, None where
there is nothing to draw. Never: sums or averages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pgassay.analysis.trace.model import PointCourse, TraceSummary, upper_us
from pgassay.language import colon, decimals, tr
from pgassay.report.charts.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    shade,
    utc_axis,
)
from pgassay.report.svg.model import Axis, Box, Figure, Line, Panel, Points, Values

_COLOURS = (VERMILLION, BLUE, GREEN, ORANGE, PURPLE, SKY, GREY)
MOST_LINES = len(_COLOURS)
_PLOT_PX = 240
_ROW_PX = 18
_FEW = 3
"""Fewer points than this are drawn as dots too: a line of one point cannot be seen."""


def throughput_chart(traced: TraceSummary) -> Figure | None:
    """Draws the traced server's transactions per second; None where it had none."""
    if not any(value for value in traced.tps_course):
        return None
    panel = _panel(traced, Axis(tr("transactions per second"), from_zero=True))
    panel.add(
        Line(
            _times(traced),
            traced.tps_course,
            BLUE,
            width=1.6,
            name=tr("transactions"),
            unit=tr("/s"),
        )
    )
    return Figure([panel], zoom="time")


def in_it_chart(traced: TraceSummary, names: Mapping[tuple[str, str], str]) -> Figure | None:
    """Draws how many processes were in each point at a time."""
    panel = _panel(traced, Axis(tr("processes in it, on average"), from_zero=True))
    return _with_lines(panel, traced, names, [course.in_it for course in _drawn(traced, names)], "")


def p99_chart(traced: TraceSummary, names: Mapping[tuple[str, str], str]) -> Figure | None:
    """Draws the 99th percentile of each point (µs) by second."""
    panel = _panel(traced, Axis(tr("99th percentile, microseconds"), kind="log"))
    values = [
        [None if value is None else max(value, 0.1) for value in course.p99_us]
        for course in _drawn(traced, names)
    ]
    return _with_lines(panel, traced, names, values, tr("µs"))


def heat_map(traced: TraceSummary, course: PointCourse) -> Figure | None:
    """Draws how many durations fell into each bucket in each second."""
    lows = sorted({low for buckets in course.buckets for low in buckets})
    if not lows:
        return None
    steps = [0, *(2**power for power in range(int(math.log2(max(lows[-1], 1))) + 1))]
    steps = [low for low in steps if lows[0] <= low <= lows[-1]]
    # By the logarithm: the long ones are few, and they are what is looked for.
    most = math.log10(1 + max(n for buckets in course.buckets for n in buckets.values()))
    panel = Panel(
        utc_axis(traced.start_ns, traced.end_ns),
        Axis(
            low=-0.5,
            high=len(steps) - 0.5,
            ticks=[(float(row), _bound(low)) for row, low in enumerate(steps)],
            most_ticks=len(steps),
            grid=False,
        ),
        max(_PLOT_PX // 2, _ROW_PX * len(steps)),
        title=tr("duration from"),
    )
    times = _times(traced)
    half = (times[1] - times[0]) / 2 if len(times) > 1 else 0.5
    for at, buckets in zip(times, course.buckets, strict=True):
        for row, low in enumerate(steps):
            if number := buckets.get(low, 0):
                panel.add(
                    Box(
                        at - half,
                        at + half,
                        row - 0.47,
                        row + 0.47,
                        VERMILLION,
                        opacity=round(0.12 + 0.88 * math.log10(1 + number) / most, 2),
                        tip=(
                            tr(
                                "{low} to {high}: {number}",
                                low=_bound(low),
                                high=_bound(upper_us(low)),
                                number=number,
                            ),
                        ),
                    )
                )
    return Figure([panel], zoom="time")


def _bound(us: int) -> str:
    for limit, divisor, unit in ((1000, 1, tr("µs")), (1_000_000, 1000, tr("ms"))):
        if us < limit:
            return f"{decimals(us / divisor, '.3g')} {unit}"
    return tr("{value} s", value=decimals(us / 1000000.0, ".3g"))


def _drawn(traced: TraceSummary, names: Mapping[tuple[str, str], str]) -> Sequence[PointCourse]:
    return [course for course in traced.courses if (course.point, course.key) in names][:MOST_LINES]


def _with_lines(
    panel: Panel,
    traced: TraceSummary,
    names: Mapping[tuple[str, str], str],
    values: Sequence[Values],
    unit: str,
) -> Figure | None:
    times, key = _times(traced), []
    for course, own, colour in zip(_drawn(traced, names), values, _COLOURS, strict=False):
        name = names[course.point, course.key]
        key.append((name, colour))
        panel.add(Line(times, own, colour, width=1.6, name=name, unit=unit))
        if len(own) < _FEW:
            known = [(at, value) for at, value in zip(times, own, strict=True) if value is not None]
            x, y = [at for at, _ in known], [value for _, value in known]
            panel.add(
                Points(
                    x,
                    y,
                    colour,
                    [(f"{name}{colon()}{decimals(value, 'g')} {unit}",) for value in y],
                    size=6,
                )
            )
    return Figure([panel], key=key, zoom="time") if key else None


def _times(traced: TraceSummary) -> list[float]:
    """The middle of each second, in Unix seconds."""
    return [middle / 1e9 for middle in traced.times_ns]


def _panel(traced: TraceSummary, up: Axis) -> Panel:
    panel = Panel(utc_axis(traced.start_ns, traced.end_ns), up, _PLOT_PX)
    for one in traced.checkpoints:
        end = one.end_ns or traced.end_ns
        panel.add(shade(one.start_ns / 1e9, end / 1e9))
        if one.sync_s:
            panel.add(shade(end / 1e9 - one.sync_s, end / 1e9, ORANGE, 0.25))
    return panel
