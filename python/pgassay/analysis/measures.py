"""One stored trial → its estimates.

Enters: a trial's summary and tables. Leaves: `TrialMeasures`.
Never: compares trials, and never turns what was not measured into a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.counters import CounterSeries
from pgassay.analysis.histograms import Histogram
from pgassay.analysis.metrics import WAIT_CLASSES
from pgassay.analysis.model import Doubt, StepMeasures, TrialMeasures
from pgassay.analysis.variants import measure_variants
from pgassay.analysis.wait_profile import WaitProfile
from pgassay.samples.run_directory import StoredTrial

_QUANTILES = {"latency_p50": 0.50, "latency_p95": 0.95, "latency_p99": 0.99}
_CPU_BUSY = ("user", "nice", "system", "irq", "softirq")
_CPU_IDLE = ("idle", "iowait")
_SECTOR = 512
_WITHIN_DISKS = re.compile(r"(sd|vd|hd|xvd)[a-z]+\d+$|(nvme\d+n\d+|mmcblk\d+|nbd\d+)p\d+$|dm-|md\d")


def measure_trial(trial: StoredTrial) -> TrialMeasures:
    """Everything that is estimated from one trial."""
    summary = trial.summary()
    sources = _Sources(trial)
    steps = [s for s in summary["load"]["steps"] if s["measured"]]
    by_rate = len({s.get("rate") for s in steps}) > 1
    level = "rate" if by_rate else "clients"
    measured = tuple(_measure(sources, (step,), step[level]) for step in steps)
    whole = measured[0] if len(measured) == 1 else _measure(sources, tuple(steps), None)
    whole = StepMeasures(None, whole.start_ns, whole.end_ns, whole.transactions, whole.values)
    return TrialMeasures(
        number=summary["number"],
        block=summary["block"],
        position=summary["position"],
        arm=summary["arm"],
        whole=whole,
        steps=measured,
        warnings=tuple(_warnings(summary, whole)),
        variants=measure_variants(summary["load"].get("slices", ())),
        invalid=trial.validity().reasons,
        repeats=summary.get("repeats"),
    )


class _Sources:
    """The tables of one trial, read once."""

    def __init__(self, trial: StoredTrial) -> None:
        self.load = trial.table("load")
        self.waits = WaitProfile(trial.table("waits"))
        self.postgres = CounterSeries(trial.table("postgres"))
        self.host = CounterSeries(trial.table("host"))
        self.checkpoints = trial.table("checkpoints")


def _measure(
    sources: _Sources, steps: tuple[Mapping[str, Any], ...], level: float | None
) -> StepMeasures:
    start, end = steps[0]["start_ns"], steps[-1]["end_ns"]
    seconds = (end - start) / 1e9
    rows = sources.load.filter(
        pc.is_in(sources.load["step"], pa.array([s["index"] for s in steps], pa.int32()))
    )
    transactions = sum(s["transactions"] for s in steps)
    failed = sum(s["failed"] for s in steps)
    values: dict[str, float | None] = {}
    if transactions and seconds > 0:
        values["tps"] = _rate(steps, seconds)
        values |= _latency(rows)
        values |= _server_costs(sources.postgres, start, end, transactions)
        values |= _host_costs(sources.host, start, end, transactions)
        values["client_cpu_ms_per_tx"] = sum(s["client_cpu_s"] for s in steps) / transactions * 1e3
        sessions = sources.waits.average_sessions(start, end)
        if sessions is not None:
            for wait_class in WAIT_CLASSES:
                busy = sessions.get(wait_class.name, 0.0)
                values[wait_class.metric] = busy * seconds / transactions * 1e3
    if transactions + failed:
        values["failed_share"] = 100.0 * failed / (transactions + failed)
    if seconds > 0:
        begun = sources.checkpoints["started_ns"].to_numpy()
        count = np.count_nonzero((begun >= start) & (begun < end))
        values["checkpoints_per_min"] = float(count) / seconds * 60
    present = {name: value for name, value in values.items() if value is not None}
    return StepMeasures(level, start, end, transactions, present)


def _rate(steps: tuple[Mapping[str, Any], ...], seconds: float) -> float:
    """A program of the user's may say its rate more finely than whole transactions do."""
    return float(sum(s["tps"] * (s["end_ns"] - s["start_ns"]) for s in steps) / 1e9 / seconds)


def _latency(rows: pa.Table) -> dict[str, float | None]:
    histogram = Histogram.merged(rows)
    quantiles = histogram.quantiles_ns(list(_QUANTILES.values()))
    if quantiles is None:
        return {}
    found: dict[str, float | None] = {
        name: value / 1e6 for name, value in zip(_QUANTILES, quantiles, strict=True)
    }
    found["latency_mean"] = pc.sum(rows["latency_sum_ns"]).as_py() / histogram.total / 1e6
    return found


def _server_costs(
    postgres: CounterSeries, start: int, end: int, transactions: int
) -> dict[str, float | None]:
    def per_tx(source: str, *names: str) -> float | None:
        grown = postgres.total(source, names, start, end)
        return None if grown is None else grown / transactions

    return {
        "wal_bytes_per_tx": per_tx("wal_position", "insert_bytes"),
        "wal_fpi_per_tx": per_tx("wal", "wal_fpi"),
        "checkpoint_buffers_per_tx": per_tx("checkpointer", "buffers_written"),
        "blocks_read_per_tx": per_tx("database", "blks_read"),
        "temp_bytes_per_tx": per_tx("database", "temp_bytes"),
    }


def _host_costs(
    host: CounterSeries, start: int, end: int, transactions: int
) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    busy = host.total("stat", _CPU_BUSY, start, end)
    idle = host.total("stat", _CPU_IDLE, start, end)
    steal = host.total("stat", ("steal",), start, end) or 0.0
    if busy is not None and idle is not None and busy + idle + steal > 0:
        everything = busy + idle + steal
        found["host_cpu_busy"] = 100.0 * busy / everything
        found["host_steal"] = 100.0 * steal / everything
        found["host_cpu_ms_per_tx"] = busy * _TICK_MS / transactions
    sectors = host.total("diskstats", ("sectors_written",), start, end, counts=_is_disk)
    if sectors is not None:
        found["disk_written_bytes_per_tx"] = sectors * _SECTOR / transactions
    return found


_TICK_MS = 10.0
"""/proc/stat counts in USER_HZ, which the kernel's ABI fixes at 100 a second."""


def _is_disk(device: str) -> bool:
    """Not a partition, a mapping or an array: those are written through to disks again."""
    return not _WITHIN_DISKS.match(device)


def _warnings(summary: Mapping[str, Any], whole: StepMeasures) -> list[Doubt]:
    found = [Doubt("trial", text) for text in summary["warnings"]]
    if whole.transactions == 0:
        found.append(Doubt("no-transactions", "not one transaction succeeded"))
    failed = whole.values.get("failed_share", 0.0)
    if failed > 1.0:
        found.append(Doubt("failures", f"{failed:.1f} % of transactions failed"))
    return found
