"""The server's host over the time of a trial: processors, tasks, memory and disks.

Enters: the trials' series, the host's figures, what each disk holds. Leaves: a chart of small
panels on one time axis, one for each figure, with a line per arm.
Never: draws what was not read or is next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from pgassay.analysis.measures.courses.chart_samples import Course, SampledCourse, mean_course
from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.analysis.sampled.model import DISK, HOST, Definition
from pgassay.language import colon
from pgassay.plan.model import Plan
from pgassay.quantities import with_unit
from pgassay.report.charts.over_time.throughput import TIME_ZOOM, background, trial_axis
from pgassay.report.charts.style import ArmStyle, arm_line, arm_named, arms_of_panels
from pgassay.report.svg.model import Axis, Figure, Panel

_PLOT_PX = 74
_SEEN = 3.0
"""How many times the floor a figure reaches that is worth a panel."""
_IN_ANOTHER = ("%dirty_background", "%dirty")
"""They have the course of dirty pages, on another scale."""


def host_chart(
    series: Sequence[ChartSeries],
    plan: Plan,
    styles: Mapping[str, ArmStyle],
    disks: Mapping[str, str],
) -> Figure | None:
    """Draws means of each arm's trials; `disks`: each disk with its title."""
    named = [("", one) for one in HOST if one.name not in _IN_ANOTHER]
    named += [(disk, one) for disk in disks for one in DISK]
    return figure_panels(series, plan, styles, named, disks)


def figure_panels(
    series: Sequence[ChartSeries],
    plan: Plan,
    styles: Mapping[str, ArmStyle],
    named: Sequence[tuple[str, Definition]],
    disks: Mapping[str, str],
    plot_px: int = _PLOT_PX,
    *,
    apart: bool = False,
) -> Figure | None:
    """Draws a panel for each (disk, figure) that is seen; no disk: the whole host. `apart`: for
    each arm, too."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    if not drawn:
        return None
    across = replace(trial_axis(drawn), grid=False)
    panels = []
    for (disk, one), arms in product(named, arms_of_panels(styles, apart=apart)):
        lines = []
        for arm, style in arms.items():
            own = [trial.figures for trial in drawn if trial.arm == arm]
            middles, values = mean_course(own, _reader(disk, one))
            if middles:
                scaled = [None if value is None else one.times * value for value in values]
                lines.append(arm_line(style, middles, scaled, 1.8, style.short, one.unit))
        if any((value or 0.0) >= _SEEN * one.floor for line in lines for value in line.y):
            of = f"{disks[disk]}{colon()}" if disk else ""
            titled = f"{of}{one.name}{colon()}{with_unit(one.title, one.unit)}"
            whose = arm_named(arms, apart=apart)
            panel = Panel(across, Axis(f"{titled}{whose}", from_zero=True, most_ticks=3), plot_px)
            panel.add(*background(drawn, plan), *lines)
            panels.append(panel)
    return Figure(panels, zoom=TIME_ZOOM) if panels else None


def _reader(disk: str, one: Definition) -> Callable[[SampledCourse], Course | None]:
    return lambda course: one.of(disk, course.figures)
