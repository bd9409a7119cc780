"""The slow end of a trial's latency over time, for the report's charts.

Enters: load.parquet. Leaves: the 99th percentile of each interval. Never: averages percentiles:
where a day has more intervals than a chart can show, neighbouring ones are merged.

Latencies are counted on a grid of one per cent, so that a day takes a second and not a sort of all
its histograms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.latencies import place_ms, place_of
from pgassay.analysis.reading.histograms import Of

_MOST_POINTS = 1200
_SHARE = 0.99


@dataclass(frozen=True)
class LatencyCourse:
    """The 99th percentile over time."""

    of: Of = "latency"
    """From when a transaction was due (`response`), or from when it began."""
    offset_s: tuple[float, ...] = ()
    """The middle of each interval."""
    p99_ms: tuple[float | None, ...] = ()
    """None where no transaction ended."""


def latency_course(load: pa.Table, of: Of, zero_ns: int, end_ns: int) -> LatencyCourse:
    """The course of all scenarios together, warm-up included."""
    rows = load["start_ns"].to_numpy()
    starts: NDArray[np.int64] = np.unique(rows)
    values = pc.list_flatten(load[f"{of}_ns"]).combine_chunks()
    if not len(values):
        return LatencyCourse(of)
    width = math.ceil(len(starts) / _MOST_POINTS)
    lengths = pc.fill_null(pc.list_value_length(load[f"{of}_count"]), 0).to_numpy()
    bins = np.repeat(np.searchsorted(starts, rows) // width, lengths)
    # Of the millions of buckets of a day only some thousand differ.
    coded = values.dictionary_encode()
    places = place_of(coded.dictionary.to_numpy() / 1e6)
    lowest, kinds = int(places.min()), int(np.ptp(places)) + 1
    found = np.bincount(
        bins * kinds + (places - lowest)[coded.indices.to_numpy()],
        weights=pc.list_flatten(load[f"{of}_count"]).to_numpy(),
        minlength=math.ceil(len(starts) / width) * kinds,
    )
    edges = np.r_[starts[::width], end_ns]
    return LatencyCourse(
        of,
        tuple(((edges[:-1] + edges[1:]) / 2e9 - zero_ns / 1e9).tolist()),
        tuple(_quantile_ms(found.reshape(-1, kinds).astype(np.float64), lowest)),
    )


def _quantile_ms(counts: NDArray[np.float64], lowest: int) -> list[float | None]:
    """The quantile of each row of counts, between the edges of its place on the grid."""
    up_to = np.cumsum(counts, axis=1)
    ranks = _SHARE * up_to[:, -1]
    at = np.argmax(up_to >= ranks[:, None], axis=1)
    row = np.arange(len(at))
    own = counts[row, at]
    within = 1 - (up_to[row, at] - ranks) / np.where(own > 0, own, 1.0)
    return [
        place_ms(lowest + float(place)) if total else None
        for place, total in zip(at + within, up_to[:, -1], strict=True)
    ]
