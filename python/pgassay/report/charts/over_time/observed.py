"""An observation over time.

Enters: what was observed. Leaves: charts on one time axis in UTC, None where nothing was sampled.
Never: joins a line over a gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pgassay.analysis.observation.model import BinnedSeries, ObservationSummary
from pgassay.analysis.reading.metrics import WAIT_CLASSES
from pgassay.language import Message, tr
from pgassay.report.charts.style import (
    BLUE,
    CLASS_COLOURS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    VERMILLION,
    shade,
    utc_axis,
)
from pgassay.report.svg.model import Axis, Band, Figure, Line, Mark, Panel, Points

_PLOT_PX = 200
_MB = 2**20
_Drawn = tuple[str, str, str]
"""Course, label, colour."""
_PROCESSORS: Sequence[_Drawn] = (
    ("busy", Message("busy"), GREEN),
    ("iowait", "iowait", BLUE),
    ("steal", "steal", VERMILLION),
)
_BYTES: Sequence[_Drawn] = (
    ("read", Message("disks, read"), BLUE),
    ("written", Message("disks, written"), ORANGE),
    ("wal", Message("WAL"), VERMILLION),
)
_BEHIND: Sequence[_Drawn] = (("replay_lag_ms", Message("replay"), VERMILLION),)


def processors_chart(observed: ObservationSummary) -> Figure | None:
    """Draws how busy the host's processors were (%)."""
    return _lines(observed, tr("percent of the host’s processors"), _PROCESSORS, "%")


def standby_chart(observed: ObservationSummary) -> Figure | None:
    """Draws how far replay was behind the primary."""
    return _lines(observed, tr("milliseconds behind the primary"), _BEHIND, tr("ms"))


def disks_chart(observed: ObservationSummary) -> Figure | None:
    """Bytes read and written, and WAL."""
    return _lines(observed, tr("MB per second"), _BYTES, tr("MB/s"), divisor=_MB)


def throughput_chart(observed: ObservationSummary) -> Figure | None:
    """Commits and rollbacks per second, with the checkpoints."""
    if "tps" not in observed.courses:
        return None
    panel = _panel(observed, tr("commits per second"))
    commits = observed.courses["tps"]
    panel.add(_line(observed, commits, tr("commits"), BLUE, tr("/s")))
    if any(observed.courses.get("rollbacks", ())):
        panel.add(
            _line(observed, observed.courses["rollbacks"], tr("rollbacks"), VERMILLION, tr("/s"))
        )
    top = max((value or 0.0 for value in commits), default=0.0)
    panel.add(
        Points(
            # A checkpoint that began before the observation is drawn at its start.
            [max(row["started_ns"], observed.start_ns) / 1e9 for row in observed.checkpoints],
            [top * 1.06] * len(observed.checkpoints),
            INK,
            [(tr("checkpoint: {cause}", cause=row["cause"]),) for row in observed.checkpoints],
            size=10,
            symbol="tick",
        )
    )
    return Figure([panel], zoom="time")


def sessions_chart(observed: ObservationSummary) -> Figure | None:
    """Draws average active sessions, stacked by wait class."""
    if not observed.sessions:
        return None
    panel = _panel(observed, tr("average active sessions"))
    panel.add(*_stacked(observed))
    key = [
        (one.title, CLASS_COLOURS.get(one.name, GREY))
        for one in WAIT_CLASSES
        if one.name in observed.sessions
    ]
    return Figure([panel], key=key, zoom="time")


def _stacked(observed: ObservationSummary) -> Iterator[Mark]:
    x = _middles(observed)
    below = [0.0] * len(x)
    for wait_class in WAIT_CLASSES:
        course = observed.sessions.get(wait_class.name)
        if course is None:
            continue
        colour = CLASS_COLOURS.get(wait_class.name, GREY)
        # A stacked area has no holes; a gap is shaded instead.
        above = [low + (value or 0.0) for low, value in zip(below, course, strict=True)]
        yield Band(x, below, above, colour, opacity=0.85, name=tr(wait_class.title))
        below = above


def _lines(
    observed: ObservationSummary,
    title: str,
    drawn: Sequence[_Drawn],
    unit: str,
    divisor: float = 1.0,
) -> Figure | None:
    present = [one for one in drawn if one[0] in observed.courses]
    if not present:
        return None
    panel = _panel(observed, title)
    for name, label, colour in present:
        panel.add(_line(observed, observed.courses[name], label, colour, unit, divisor))
    return Figure([panel], key=[(label, colour) for _, label, colour in present], zoom="time")


def _panel(observed: ObservationSummary, title: str) -> Panel:
    across = utc_axis(observed.start_ns, observed.end_ns)
    panel = Panel(across, Axis(title, from_zero=True), _PLOT_PX)
    panel.add(*(shade(start / 1e9, end / 1e9) for start, end in observed.gaps_ns))
    return panel


def _line(
    observed: ObservationSummary,
    course: BinnedSeries,
    label: str,
    colour: str,
    unit: str,
    divisor: float = 1.0,
) -> Line:
    values = [None if value is None else value / divisor for value in course]
    return Line(_middles(observed), values, colour, width=1.6, name=label, unit=unit)


def _middles(observed: ObservationSummary) -> list[float]:
    return [(a + b) / 2e9 for a, b in pairwise(observed.edges_ns)]
