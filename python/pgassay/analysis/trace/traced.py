"""The readings of a trace, summed over any stretch of it.

Enters: the tables of a trace. Leaves: figures by point and key, throughput. Never: counts a second
twice, or takes a second without any event for one that was not traced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from pgassay.analysis.trace.model import PointCourse, PointSummary, longest_us, quantile_us

_Name = tuple[str, str]


@dataclass
class _Sum:
    """What was counted of one point and key."""

    count: int = 0
    total_ns: int = 0
    buckets: Counter[int] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        self.count += row["count"]
        self.total_ns += row["total_ns"]
        self.buckets.update(dict(zip(row["bucket_us"], row["bucket_count"], strict=True)))

    def summary(self, name: _Name, seconds: float, transactions: float | None) -> PointSummary:
        return PointSummary(
            point=name[0],
            key=name[1],
            count=self.count,
            per_s=self.count / seconds,
            total_s=self.total_ns / 1e9,
            in_it=self.total_ns / 1e9 / seconds,
            per_tx_us=self.total_ns / 1e3 / transactions if transactions else None,
            mean_us=self.total_ns / 1e3 / max(self.count, 1),
            p50_us=quantile_us(self.buckets, 0.5),
            p99_us=quantile_us(self.buckets, 0.99),
            longest_us=longest_us(self.buckets),
        )


class Traced:
    """The readings of a trace, summed over any stretch of it."""

    def __init__(self, points: pa.Table, transactions: pa.Table, start_ns: int, end_ns: int):
        self._rows: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for row in points.to_pylist():
            self._rows.setdefault((row["start_ns"], row["end_ns"]), []).append(row)
        self.start_ns, self.end_ns = start_ns, end_ns
        self._at = np.array(transactions["time_ns"].to_pylist(), dtype=np.float64)
        self._counted = np.array(transactions["transactions"].to_pylist(), dtype=np.float64)

    def transactions(self, start_ns: float, end_ns: float) -> float | None:
        """Returns how many transactions ended between two moments; None where the counters do not
        reach that far."""
        if len(self._at) < 2:
            return None
        low, high = np.interp([start_ns, end_ns], self._at, self._counted)
        return float(high - low)

    def tps(self, start_ns: float, end_ns: float) -> float | None:
        """Returns transactions per second between two moments; None where they are unknown."""
        found = self.transactions(start_ns, end_ns)
        return None if found is None or end_ns <= start_ns else found / (end_ns - start_ns) * 1e9

    def between(self, start_ns: int, end_ns: int) -> tuple[PointSummary, ...]:
        """The points in the seconds whose middle lies between two moments."""
        sums: dict[_Name, _Sum] = {}
        covered = [
            (own, rows)
            for own, rows in self._rows.items()
            if start_ns <= (own[0] + own[1]) // 2 < end_ns
        ]
        for _, rows in covered:
            for row in filter(_is_counted, rows):
                sums.setdefault((row["point"], row["key"]), _Sum()).add(row)
        # The time that those seconds cover, so that their edges do not count.
        seconds = sum(own[1] - own[0] for own, _ in covered) / 1e9
        if not seconds:
            return ()
        spans = [own for own, _ in covered]
        ended = self.transactions(min(own[0] for own in spans), max(own[1] for own in spans))
        return tuple(
            sorted(
                (one.summary(name, seconds, ended) for name, one in sums.items()),
                key=lambda point: -point.total_s,
            )
        )

    def courses(self, names: Sequence[_Name]) -> Iterator[PointCourse]:
        """Points by second."""
        spans = sorted(self._rows)
        for name in names:
            found = [
                next((r for r in self._rows[own] if (r["point"], r["key"]) == name), None)
                for own in spans
            ]
            buckets = tuple(
                {} if r is None else dict(zip(r["bucket_us"], r["bucket_count"], strict=True))
                for r in found
            )
            yield PointCourse(
                point=name[0],
                key=name[1],
                count=tuple(0 if r is None else r["count"] for r in found),
                in_it=tuple(
                    0.0 if r is None else r["total_ns"] / max(own[1] - own[0], 1)
                    for own, r in zip(spans, found, strict=True)
                ),
                p99_us=tuple(quantile_us(one, 0.99) for one in buckets),
                buckets=buckets,
            )

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Beginnings and ends of the seconds, in their order."""
        return sorted(self._rows)


def _is_counted(row: Mapping[str, Any]) -> bool:
    """A row without a point stands for a second in which nothing was met."""
    return bool(row["point"])
