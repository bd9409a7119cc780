"""What the host did in the trials of each arm: disk, memory, processors, swapping.

Enters: a stored run. Leaves: for each arm (or for all, where they alternate in every trial) means
over its trials, by name of `COLUMNS`; None where it was not read. Never: judges a figure.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from pgassay.analysis.host.columns import HostColumns
from pgassay.analysis.measures.sources import TrialSources
from pgassay.report.context import ReportContext
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.stored_parts import StoredTrial

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


def host_figures(run: RunDirectory, context: ReportContext) -> list[dict[str, Any]]:
    """One row for each arm, in the order of the plan."""
    storage = context.environment.host.given.get("storage") or {}
    devices = (storage.get("data") or {}).get("devices") or [""]
    found: dict[str, list[Mapping[str, float | None]]] = defaultdict(list)
    for trial in run.trials():
        found[trial.summary().arm].append(_of_trial(trial, devices[0]))
    labels = {arm.id: arm.label for arm in context.plan.arms}
    return [
        {
            "label": labels.get(arm, "all arms, by turns"),
            "trials": len(trials),
            **{name: _mean(one[name] for one in trials) for name in COLUMNS},
        }
        for arm, trials in sorted(found.items())
    ]


def _of_trial(trial: StoredTrial, device: str) -> dict[str, float | None]:
    counters = TrialSources(trial).host
    measured = trial.summary().load.measured
    start, end = measured[0].start_ns, measured[-1].end_ns
    window = HostColumns(counters).window(start, end)
    disk = window.iostat.get(device, {})
    at, dirty_kb = counters.points(("meminfo", "", "Dirty"))
    inside = dirty_kb[(at >= start) & (at < end)]
    slab = [
        counters.mean_level(("meminfo", "", name), start, end)
        for name in ("SReclaimable", "SUnreclaim")
    ]
    return {
        **{name: disk.get(column) for name, column in _DISK.items()},
        **{name: window.vmstat[name] for name in ("us", "sy", "wa")},
        "swapped": _sum([window.vmstat["si"], window.vmstat["so"]]),
        "dirty": float(inside.mean()) / 1024 if len(inside) else None,
        "dirty_most": float(inside.max()) / 1024 if len(inside) else None,
        "slab": None if (kb := _sum(slab)) is None else kb / 1024,
    }


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(one for one in known if one is not None)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return statistics.fmean(known) if known else None
