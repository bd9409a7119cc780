"""What was sampled during one trial, in stretches of time that all trials of a run share.

Enters: a trial's sampled sessions and host counters. Leaves: sessions by wait class, processors and
disks over time; means over trials. Never: shows what was not read as zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.binned import CounterTrack
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.reading.metrics import WAIT_CLASSES

Floats = NDArray[np.float64]
Course = tuple[float | None, ...]
_MOST_STRETCHES = 240
_WIDTHS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_CPU = {
    "user": ("user", "nice"),
    "system": ("system", "irq", "softirq"),
    "iowait": ("iowait",),
    "steal": ("steal",),
    "idle": ("idle",),
}
_DISK = {"read": "sectors_read", "written": "sectors_written", "busy": "io_ms"}
_SECTOR_BYTES = 512


@dataclass(frozen=True)
class SampledCourse:
    """Values of successive stretches; None where too little was read."""

    first: int = 0
    """The number of the first stretch: the measurement begins with number 0."""
    width_s: float = 1.0
    sessions: Mapping[str, Course] = field(default_factory=dict)
    """Wait class → average active sessions."""
    processors: Mapping[str, Course] = field(default_factory=dict)
    """`user`, `system`, `iowait`, `steal` → per cent of the host's processors."""
    disks: Mapping[str, Mapping[str, Course]] = field(default_factory=dict)
    """Device → `read` and `written` in bytes a second, `busy` in per cent of the time."""


def sampled_course(
    sources: TrialSources, begin_ns: int, zero_ns: int, end_ns: int
) -> SampledCourse:
    """Returns one trial's course from the beginning of its load; its measurement lasts from zero to
    the end."""
    width_s = next(
        (w for w in _WIDTHS_S if (end_ns - begin_ns) / 1e9 / w <= _MOST_STRETCHES), _WIDTHS_S[-1]
    )
    width_ns = width_s * 10**9
    first = math.ceil((begin_ns - zero_ns) / width_ns - 0.01)
    last = max(math.floor((end_ns - zero_ns) / width_ns + 0.01), first + 1)
    edges = zero_ns + np.arange(first, last + 1, dtype=np.int64) * width_ns
    by_class = sources.waits.by_window(edges).T
    return SampledCourse(
        first,
        float(width_s),
        {
            one.name: _course(values)
            for one, values in zip(WAIT_CLASSES, by_class, strict=True)
            if np.nansum(values) > 0.0
        },
        _processors(sources.host, edges),
        _disks(sources.host, edges),
    )


def mean_course(
    trials: Sequence[SampledCourse], read: Callable[[SampledCourse], Course | None]
) -> tuple[list[float], list[float | None]]:
    """Returns (middle of each stretch in seconds, mean of the trials that know it).

    A trial for which `read` gives None is left out.
    """
    known = [(one, course) for one in trials if (course := read(one)) is not None]
    if not known:
        return [], []
    width = known[0][0].width_s
    first = min(one.first for one, _ in known)
    last = max(one.first + len(course) for one, course in known)
    values = np.full((len(known), last - first), np.nan)
    for row, (one, course) in zip(values, known, strict=True):
        at = one.first - first
        row[at : at + len(course)] = [np.nan if v is None else v for v in course]
    number = np.count_nonzero(np.isfinite(values), axis=0)
    means = np.where(number > 0, np.nansum(values, axis=0) / np.maximum(number, 1), np.nan)
    return [(first + at + 0.5) * width for at in range(last - first)], list(_course(means))


def _course(values: Floats) -> Course:
    return tuple(None if math.isnan(value) else value for value in values.tolist())


def _rates(host: CounterSeries, key: tuple[str, str, str], edges: NDArray[np.int64]) -> Floats:
    track = CounterTrack()
    track.add(*host.points(key))
    return track.rates(edges)


def _processors(host: CounterSeries, edges: NDArray[np.int64]) -> dict[str, Course]:
    keys = {(source, name) for source, thing, name in host.keys() if thing == "cpu"}  # noqa: SIM118
    spent: dict[str, Floats] = {}
    for part, names in _CPU.items():
        present = [name for name in names if ("stat", name) in keys]
        if present:
            rates = [_rates(host, ("stat", "cpu", name), edges) for name in present]
            spent[part] = np.sum(rates, axis=0)
    if "idle" not in spent:
        return {}
    every = np.sum(list(spent.values()), axis=0)
    every = np.where(every > 0, every, np.nan)
    return {part: _course(100 * own / every) for part, own in spent.items() if part != "idle"}


def _disks(host: CounterSeries, edges: NDArray[np.int64]) -> dict[str, dict[str, Course]]:
    """The devices that read or wrote anything."""
    found: dict[str, dict[str, Course]] = {}
    every = set(host.keys())
    for device in sorted({thing for source, thing, _ in every if source == "diskstats"}):
        own = {}
        for what, name in _DISK.items():
            if ("diskstats", device, name) in every:
                rate = _rates(host, ("diskstats", device, name), edges)
                own[what] = np.minimum(rate / 10, 100) if what == "busy" else rate * _SECTOR_BYTES
        if any(np.nansum(own[what]) > 0 for what in ("read", "written") if what in own):
            found[device] = {what: _course(values) for what, values in own.items()}
    return found
