"""Merged latency histograms and their quantiles.

Enters: the bucket lists of load.parquet. Leaves: quantiles in nanoseconds.
Never: averages quantiles; buckets of one HDR layout merge by adding counts, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

CURVE_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The quantiles that stand for a whole distribution: the deciles, and the slow end."""


Of = Literal["latency", "response"]


class Histogram:
    """Counts by bucket; `values_ns[i]` is the highest latency of bucket i."""

    def __init__(self, values_ns: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        self.values_ns, inverse = np.unique(values_ns, return_inverse=True)
        self.counts = np.bincount(inverse, weights=counts, minlength=len(self.values_ns))
        self.total = int(self.counts.sum())

    @classmethod
    def merged(cls, rows: pa.Table, of: Of = "latency") -> Histogram:
        """One histogram of all these rows of load.parquet: service times, or response times."""
        values = pc.list_flatten(rows[f"{of}_ns"]).to_numpy()
        counts = pc.list_flatten(rows[f"{of}_count"]).to_numpy()
        return cls(values, counts)

    def quantiles_ns(self, shares: Sequence[float]) -> list[float] | None:
        """The latency below which each share of transactions stays; None for an empty one."""
        if self.total == 0:
            return None
        cumulative = np.cumsum(self.counts)
        places = np.searchsorted(cumulative, np.asarray(shares) * self.total)
        return [float(self.values_ns[min(place, len(self.values_ns) - 1)]) for place in places]


def with_latencies(load: pa.Table) -> pa.Table:
    """How many latencies each row holds: fewer than transactions where a program logs some."""
    counts = load["latency_count"].combine_chunks()
    running = np.r_[0, np.cumsum(pc.list_flatten(counts).to_numpy())]
    ends = np.cumsum(pc.list_value_length(counts).to_numpy())
    return load.append_column("latencies", pa.array(np.diff(running[ends], prepend=0)))
