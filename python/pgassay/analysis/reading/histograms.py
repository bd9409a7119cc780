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

from pgassay.samples.storage.histogram_layout import HistogramLayout, layout_in

CURVE_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The quantiles of a latency curve: the deciles, and the slow end."""
QUANTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
"""Those that are metrics, by the ends of their names."""
Of = Literal["latency", "response"]
_BITS_OF_OLD_RUNS = 9
"""Leading bits by which the engine put a latency into a bucket before files named them."""


class Histogram:
    """Counts by bucket; `values_ns[i]` is the highest latency in bucket i."""

    def __init__(
        self,
        values_ns: NDArray[np.int64],
        counts: NDArray[np.int64],
        layout: HistogramLayout | None = None,
    ) -> None:
        """Without a layout, as in runs of before it was stored, the values decide."""
        self._layout = layout
        # By hashing: a day has millions of rows and only some hundred buckets.
        coded = pa.array(values_ns, pa.int64()).dictionary_encode()
        found: NDArray[np.int64] = coded.dictionary.to_numpy()
        summed = np.bincount(coded.indices.to_numpy(), counts, len(found)).astype(np.int64)
        order = np.argsort(found)
        self.values_ns: NDArray[np.int64] = found[order]
        self.counts: NDArray[np.int64] = summed[order]
        self.total = int(self.counts.sum())

    @classmethod
    def merged(cls, rows: pa.Table, of: Of = "latency") -> Histogram:
        """Merges these rows of load.parquet into one histogram, of service times or response
        times."""
        values = pc.list_flatten(rows[f"{of}_ns"]).to_numpy()
        counts = pc.list_flatten(rows[f"{of}_count"]).to_numpy()
        return cls(values, counts, layout_in(rows.schema.metadata))

    def quantiles_ns(self, shares: Sequence[float]) -> list[float] | None:
        """The quantiles at these shares; None for an empty histogram.

        Interpolated within a bucket: otherwise differences of trials would be multiples of bucket
        widths.
        """
        if self.total == 0:
            return None
        cumulative = np.cumsum(self.counts)
        ranks = np.asarray(shares) * self.total
        places = np.minimum(np.searchsorted(cumulative, ranks), len(cumulative) - 1)
        counts, highest = self.counts[places], self.values_ns[places]
        within = np.clip((ranks - (cumulative[places] - counts)) / np.maximum(counts, 1), 0.0, 1.0)
        found: list[float] = (highest - (1.0 - within) * self._widths()[places]).tolist()
        return found

    def counts_between(self, edges_ns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Counts the latencies between neighbouring edges, each bucket evenly filled.

        What lies beyond the edges is counted in the first and the last place.
        """
        if self.total == 0:
            return np.zeros(len(edges_ns) - 1)
        upper = self.values_ns.astype(np.float64)
        widths = np.maximum(self._widths(), 0.0 if self._has_buckets else self.resolution_ns)
        places = np.ravel(np.column_stack([upper - widths, upper]))
        below = np.cumsum(self.counts).astype(np.float64)
        heights = np.ravel(np.column_stack([below - self.counts, below]))
        inner = np.interp(edges_ns[1:-1], places, heights)
        found: NDArray[np.float64] = np.diff(np.r_[0.0, inner, float(self.total)])
        return found

    @property
    def resolution_ns(self) -> float:
        """What exact latencies are multiples of, such as a microsecond; 0 where buckets have a
        width."""
        return 0.0 if self._has_buckets else float(np.gcd.reduce(self.values_ns))

    @property
    def _has_buckets(self) -> bool:
        return not np.array_equal(self._widths(), np.ones(len(self.values_ns)))

    def _widths(self) -> NDArray[np.float64]:
        """The width of each bucket that holds something, at most the way to the one below."""
        kept = _BITS_OF_OLD_RUNS if self._layout is None else self._layout.leading_bits
        if kept is None:
            return np.ones(len(self.values_ns))
        bits = np.frexp(np.maximum(self.values_ns, 1).astype(np.float64))[1].astype(np.int64)
        widths = 1 << np.maximum(bits - kept, 0)
        if self._layout is None and np.any((self.values_ns + 1) % widths):
            return np.ones(len(widths))  # the exact latencies of a program of the user's
        room: NDArray[np.int64] = np.diff(self.values_ns, prepend=-1)
        narrow: NDArray[np.float64] = np.minimum(widths, room).astype(np.float64)
        return narrow


def with_latencies(load: pa.Table) -> pa.Table:
    """The table with the number of latencies in each row, which a program may log only in part."""
    counts = load["latency_count"].combine_chunks()
    running = np.r_[0, np.cumsum(pc.list_flatten(counts).to_numpy())]
    ends = np.cumsum(pc.list_value_length(counts).to_numpy())
    return load.append_column("latencies", pa.array(np.diff(running[ends], prepend=0)))
