"""The server's host over the time of a trial: processors, tasks, memory and disks.

Enters: the trials' series, the host's figures, what each disk holds. Leaves: a chart of small
panels on one time axis, one for each figure, with a line per arm.
Never: draws what was not read or is next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pgassay.analysis.measures.courses.chart_samples import Course, SampledCourse, mean_course
from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.analysis.sampled.model import DISK, HOST, Definition
from pgassay.language import clauses, colon
from pgassay.plan.model import Plan
from pgassay.report.charts.over_time.throughput import TIME_ZOOM, background, trial_axis
from pgassay.report.charts.style import ArmStyle, arm_line
from pgassay.report.svg.model import Axis, Figure, Panel

_PLOT_PX = 74


def host_chart(
    series: Sequence[ChartSeries],
    plan: Plan,
    styles: Mapping[str, ArmStyle],
    disks: Mapping[str, str],
) -> Figure | None:
    """Draws means of each arm's trials; `disks`: each disk with its title."""
    named = [("", one) for one in HOST] + [(disk, one) for disk in disks for one in DISK]
    return figure_panels(series, plan, styles, named, disks)


def figure_panels(
    series: Sequence[ChartSeries],
    plan: Plan,
    styles: Mapping[str, ArmStyle],
    named: Sequence[tuple[str, Definition]],
    disks: Mapping[str, str],
    plot_px: int = _PLOT_PX,
) -> Figure | None:
    """Draws a panel for each (disk, figure) that reaches its floor; no disk: the whole host."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    if not drawn:
        return None
    across = trial_axis(drawn)
    panels = []
    for disk, one in named:
        lines = []
        for arm, style in styles.items():
            own = [trial.figures for trial in drawn if trial.arm == arm]
            middles, values = mean_course(own, _reader(disk, one))
            if middles:
                scaled = [None if value is None else one.times * value for value in values]
                shown = clauses((one.name, style.short))
                lines.append(arm_line(style, middles, scaled, 1.8, shown, one.unit))
        if any((value or 0.0) >= one.floor for line in lines for value in line.y):
            of = f"{disks[disk]}{colon()}" if disk else ""
            panel = Panel(
                across,
                Axis(f"{of}{one.name}{colon()}{one.heading}", from_zero=True, most_ticks=3),
                plot_px,
            )
            panel.add(*background(drawn, plan), *lines)
            panels.append(panel)
    return Figure(panels, zoom=TIME_ZOOM) if panels else None


def _reader(disk: str, one: Definition) -> Callable[[SampledCourse], Course | None]:
    return lambda course: one.of(disk, course.figures)
