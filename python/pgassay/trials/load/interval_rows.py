"""Rows of load.parquet for a load that is not the engine's.

Enters: commits and latencies with their times. Leaves: columns like `Load.intervals`.
Never: reads a log or asks a server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.trials.model.record import Columns

INTERVAL_NS = 1_000_000_000
SCENARIO = "command"
_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
_COLUMNS = (
    "start_ns",
    "step",
    "measured",
    "scenario",
    "transactions",
    "failed",
    "latency_sum_ns",
    "latency_ns",
    "latency_count",
)
_LATENCY_NAMES = ("mean", *_QUANTILES, "max")


@dataclass(frozen=True)
class Latencies:
    """Latencies around one moment: HDR buckets (highest value of each) and their counts."""

    at_ns: int
    sum_ns: int
    values_ns: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class CommandStep:
    """One measured or warm-up step, as the program ran it."""

    index: int
    clients: int
    rate: float | None
    measured: bool
    start_ns: int
    end_ns: int
    tps: float
    client_cpu_s: float
    commits: tuple[tuple[int, int], ...]
    """(time, commits since the step began), in order of time."""
    rollbacks: int
    latencies: tuple[Latencies, ...]

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def transactions(self) -> int:
        return round(self.tps * self.seconds)

    def described(self) -> dict[str, Any]:
        """Returns the object of this step in the load's result."""
        rate = {} if self.rate is None else {"rate": self.rate}
        return {
            "index": self.index,
            "clients": self.clients,
            **rate,
            "measured": self.measured,
            "start_ns": self.start_ns,
            "end_ns": self.end_ns,
            "transactions": self.transactions,
            "failed": 0,
            "tps": self.tps,
            "latency_ms": latency_summary(self.latencies),
            "client_cpu_s": self.client_cpu_s,
        }


def hdr_buckets(latencies_ns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the used buckets of an HDR histogram with three significant digits, as the
    engine's."""
    values = np.maximum(latencies_ns, 1)
    shift = np.maximum(np.floor(np.log2(values.astype(np.float64))).astype(np.int64) - 10, 0)
    highest = (((values >> shift) + 1) << shift) - 1
    return np.unique(highest, return_counts=True)


def latency_summary(latencies: tuple[Latencies, ...]) -> dict[str, float | None]:
    """Returns mean and quantiles of latencies in milliseconds; all None where nothing was
    logged."""
    if not latencies:
        return dict.fromkeys(_LATENCY_NAMES)
    values = np.concatenate([part.values_ns for part in latencies])
    counts = np.concatenate([part.counts for part in latencies])
    order = np.argsort(values, kind="stable")
    values, cumulative = values[order], np.cumsum(counts[order])
    total = int(cumulative[-1])
    found: dict[str, float | None] = {
        "mean": sum(part.sum_ns for part in latencies) / total / 1e6,
        "max": float(values[-1]) / 1e6,
    }
    for name, share in _QUANTILES.items():
        place = min(int(np.searchsorted(cumulative, share * total)), len(values) - 1)
        found[name] = float(values[place]) / 1e6
    return {name: found[name] for name in _LATENCY_NAMES}


def interval_rows(steps: list[CommandStep]) -> Columns:
    """Returns one row per second of each step.

    Transactions are spread over time as the server's commits were; where the program's own figure
    counts, they are scaled to it.
    """
    rows: list[tuple[Any, ...]] = []
    for step in steps:
        starts = np.arange(step.start_ns, step.end_ns, INTERVAL_NS, dtype=np.int64)
        done = _spread(step, starts)
        for start, transactions in zip(starts.tolist(), done, strict=True):
            inside = [p for p in step.latencies if _bin(p.at_ns, step) == start]
            buckets: dict[int, int] = {}
            for part in inside:
                for value, count in zip(part.values_ns.tolist(), part.counts.tolist(), strict=True):
                    buckets[value] = buckets.get(value, 0) + count
            values = sorted(buckets)
            rows.append(
                (
                    start,
                    step.index,
                    step.measured,
                    SCENARIO,
                    transactions,
                    0,
                    sum(part.sum_ns for part in inside),
                    values,
                    [buckets[one] for one in values],
                )
            )
    return {name: [row[at] for row in rows] for at, name in enumerate(_COLUMNS)}


def _bin(at_ns: int, step: CommandStep) -> int:
    within = min(max(at_ns, step.start_ns), step.end_ns - 1) - step.start_ns
    return step.start_ns + within // INTERVAL_NS * INTERVAL_NS


def _spread(step: CommandStep, starts: NDArray[np.int64]) -> list[int]:
    times = np.array([step.start_ns, *(at for at, _ in step.commits)], np.float64)
    counts = np.array([0, *(count for _, count in step.commits)], np.float64)
    edges = np.append(starts[1:], step.end_ns).astype(np.float64)
    share = np.interp(edges, times, counts)
    if share[-1] > 0:
        share = share / share[-1]
    else:
        share = (edges - step.start_ns) / (step.end_ns - step.start_ns)
    # Rounding the running sum keeps the total exact.
    running = np.rint(share * step.transactions)
    return [int(count) for count in np.diff(running, prepend=0)]
