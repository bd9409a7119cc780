"""The server's host over the time of a trial: processors and disks.

Enters: the trials' samples; what each device holds. Leaves: a chart of small panels on one time
axis, one for each figure, with a line per arm.
Never: draws what was not read or is next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pgassay.analysis.measures.courses.chart_samples import Course, SampledCourse, mean_course
from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.language import Message, colon, tr
from pgassay.plan.model import Plan
from pgassay.report.charts.over_time.throughput import TIME_ZOOM, background, trial_axis
from pgassay.report.charts.style import ArmStyle, arm_line
from pgassay.report.svg.model import Axis, Figure, Panel

_PLOT_PX = 74
_MOST_DISKS = 4
_MB = 1e6
_PROCESSORS = {
    "user": Message("processors, user"),
    "system": Message("processors, system"),
    "iowait": Message("processors, idle with a disk request pending (iowait)"),
    "steal": Message("processors, taken by other guests of the machine (steal)"),
}
_PARTS = {"user": Message("user"), "system": Message("system")}
_DISKS = (
    ("read", Message("read, MB per second"), Message("MB/s"), _MB),
    ("written", Message("written, MB per second"), Message("MB/s"), _MB),
    ("busy", Message("time with a request in progress, %"), "%", 1.0),
)
_SHORT = {"read": Message("read"), "written": Message("written"), "busy": Message("busy")}
_SEEN = {"%": 1.0, "MB/s": 0.1}
"""A figure that stays below is left out."""
_Read = Callable[[SampledCourse], Course | None]


@dataclass(frozen=True)
class _Shown:
    """One panel: what stands above it, and beside a value."""

    title: str
    name: str
    unit: str
    divisor: float = 1.0


def host_chart(
    series: Sequence[ChartSeries],
    plan: Plan,
    styles: Mapping[str, ArmStyle],
    holds: Mapping[str, str],
) -> Figure | None:
    """Means of each arm's trials; `holds` says of a device what lies on it."""
    drawn = [trial for trial in series if trial.offset_s and trial.arm in styles]
    if not drawn:
        return None
    across = trial_axis(drawn)
    panels = [
        _panel(
            drawn,
            plan,
            styles,
            across,
            _Shown(f"{title}, %", tr("CPU {part}", part=_PARTS.get(part, part)), "%"),
            _processor(part),
        )
        for part, title in _PROCESSORS.items()
    ]
    for device in _devices(drawn, holds):
        name = f"{device} ({holds[device]})" if holds.get(device) else device
        for what, title, unit, divisor in _DISKS:
            shown = _Shown(f"{name}{colon()}{title}", f"{device} {_SHORT[what]}", unit, divisor)
            panels.append(_panel(drawn, plan, styles, across, shown, _disk(device, what)))
    present = [panel for panel in panels if panel is not None]
    return Figure(present, zoom=TIME_ZOOM) if present else None


def _processor(part: str) -> _Read:
    return lambda one: one.processors.get(part)


def _disk(device: str, what: str) -> _Read:
    return lambda one: one.disks.get(device, {}).get(what)


def _devices(series: Sequence[ChartSeries], holds: Mapping[str, str]) -> list[str]:
    """Those that hold the server's files first, then by how much they read and wrote."""
    moved: dict[str, float] = {}
    for trial in series:
        for device, courses in trial.sampled.disks.items():
            for what in ("read", "written"):
                moved[device] = moved.get(device, 0.0) + sum(
                    value or 0.0 for value in courses.get(what, ())
                )
    ranked = sorted(moved, key=lambda device: (device not in holds, -moved[device]))
    return ranked[:_MOST_DISKS]


def _panel(
    series: Sequence[ChartSeries],
    plan: Plan,
    styles: Mapping[str, ArmStyle],
    across: Axis,
    shown: _Shown,
    read: _Read,
) -> Panel | None:
    lines = []
    for arm, style in styles.items():
        own = [trial.sampled for trial in series if trial.arm == arm]
        middles, values = mean_course(own, read)
        if middles:
            scaled = [None if value is None else value / shown.divisor for value in values]
            name = f"{shown.name}, {style.short}"
            lines.append(arm_line(style, middles, scaled, 1.8, name, shown.unit))
    if not any((value or 0.0) >= _SEEN[shown.unit] for line in lines for value in line.y):
        return None
    panel = Panel(across, Axis(shown.title, from_zero=True, most_ticks=3), _PLOT_PX)
    panel.add(*background(series, plan), *lines)
    return panel
