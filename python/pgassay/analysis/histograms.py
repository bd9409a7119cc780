"""Merged latency histograms and their quantiles.

Enters: the bucket lists of load.parquet. Leaves: quantiles in nanoseconds.
Never: averages quantiles; buckets of one HDR layout merge by adding counts, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


class Histogram:
    """Counts by bucket; `values_ns[i]` is the highest latency of bucket i."""

    def __init__(self, values_ns: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        self.values_ns, inverse = np.unique(values_ns, return_inverse=True)
        self.counts = np.bincount(inverse, weights=counts, minlength=len(self.values_ns))
        self.total = int(self.counts.sum())

    @classmethod
    def merged(cls, rows: pa.Table) -> Histogram:
        """One histogram of all these rows of load.parquet."""
        values = pc.list_flatten(rows["latency_ns"]).to_numpy()
        counts = pc.list_flatten(rows["latency_count"]).to_numpy()
        return cls(values, counts)

    def quantiles_ns(self, shares: Sequence[float]) -> list[float] | None:
        """The latency below which each share of transactions stays; None for an empty one."""
        if self.total == 0:
            return None
        cumulative = np.cumsum(self.counts)
        places = np.searchsorted(cumulative, np.asarray(shares) * self.total)
        return [float(self.values_ns[min(place, len(self.values_ns) - 1)]) for place in places]
