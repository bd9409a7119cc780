"""What the host did in the trials of each arm: disk, memory, processors, swapping.

Enters: a stored run. Leaves: for each arm means over its trials, or over its slices where arms
alternate, by name of `COLUMNS`; None where it was not read. Never: judges a figure, or says of
which arm something was in slices that are too short for readings a second apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.host.columns import HostColumns
from pgassay.analysis.host.model import HostWindow
from pgassay.analysis.host.windows import merged
from pgassay.analysis.measures.sources import TrialSources
from pgassay.report.context import ReportContext
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.stored_parts import StoredTrial
from pgassay.trials.load.slices import PARTS

COLUMNS = {
    "reads": "reads/s",
    "writes": "writes/s",
    "r_await": "r_await, ms",
    "w_await": "w_await, ms",
    "util": "disk busy, %",
    "us": "us, %",
    "sy": "sy, %",
    "wa": "wa, %",
    "swapped": "swapped in and out, kB/s",
    "dirty": "dirty, MB",
    "dirty_most": "dirty at most, MB",
    "slab": "slab, MB",
}
"""Names of figures and the heads of their columns on a page."""
_DISK = {
    "reads": "r/s",
    "writes": "w/s",
    "r_await": "r_await",
    "w_await": "w_await",
    "util": "%util",
}


_SHORTEST_NS = 2_000_000_000
"""Shortest slice that shows what the host did in it: the host is read each second."""
_SLAB = ("SReclaimable", "SUnreclaim")


@dataclass
class _Host:
    """The host in all stretches of one arm."""

    trials: set[int] = field(default_factory=set)
    windows: list[HostWindow] = field(default_factory=list)
    dirty_kb: list[NDArray[np.float64]] = field(default_factory=list)
    slab_kb: list[float] = field(default_factory=list)

    def add(self, trial: StoredTrial, stretches: list[tuple[int, int]]) -> None:
        counters = TrialSources(trial).host
        columns = HostColumns(counters)
        at, dirty = counters.points(("meminfo", "", "Dirty"))
        self.trials.add(trial.summary().number)
        for start, end in stretches:
            self.windows.append(columns.window(start, end))
            self.dirty_kb.append(dirty[(at >= start) & (at < end)])
            slab = [counters.mean_level(("meminfo", "", name), start, end) for name in _SLAB]
            self.slab_kb += [sum(one for one in slab if one is not None)] if all(slab) else []

    def figures(self, device: str) -> dict[str, float | None]:
        whole = merged(self.windows)
        disk, moved = whole.iostat.get(device, {}), [whole.vmstat["si"], whole.vmstat["so"]]
        dirty = np.concatenate(self.dirty_kb) / 1024
        return {
            **{name: disk.get(column) for name, column in _DISK.items()},
            **{name: whole.vmstat[name] for name in ("us", "sy", "wa")},
            "swapped": None if None in moved else sum(one for one in moved if one is not None),
            "dirty": float(dirty.mean()) if len(dirty) else None,
            "dirty_most": float(dirty.max()) if len(dirty) else None,
            "slab": float(np.mean(self.slab_kb)) / 1024 if self.slab_kb else None,
        }


def host_figures(run: RunDirectory, context: ReportContext) -> list[dict[str, Any]]:
    """One row for each arm, in the order of the plan."""
    storage = context.environment.host.given.get("storage") or {}
    devices = (storage.get("data") or {}).get("devices") or [""]
    found: dict[str, _Host] = defaultdict(_Host)
    for trial in run.trials():
        for arm, stretches in _stretches(trial):
            found[arm].add(trial, stretches)
    labels = {arm.id: arm.label for arm in context.plan.arms}
    return [
        {
            "label": labels.get(arm, ""),
            "trials": len(host.trials),
            **host.figures(devices[0]),
        }
        for arm, host in sorted(found.items())
    ]


def _stretches(trial: StoredTrial) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Arms of a trial, each with the beginnings and ends (ns) of what was measured of it."""
    summary = trial.summary()
    measured, slices = summary.load.measured, summary.load.slices
    if not slices or min(one.end_ns - one.start_ns for one in slices) < _SHORTEST_NS:
        yield summary.arm, [(measured[0].start_ns, measured[-1].end_ns)]
        return
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for one in slices:
        cut = (one.end_ns - one.start_ns) // PARTS
        found[one.variant].append((one.start_ns + cut, one.end_ns))
    yield from found.items()
