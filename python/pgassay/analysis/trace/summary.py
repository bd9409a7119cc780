"""A stored trace as figures.

Enters: the directory of a trace. Leaves: a `TraceSummary`: figures by point and key, checkpoints,
and what was counted before, in and after each. Never: counts a second twice, takes a second without
any event for one that was not traced, or tests anything: one trace is one unit, and what stands
beside a checkpoint in time need not come from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from pgassay.analysis.trace.model import (
    Period,
    PointCourse,
    PointSummary,
    TracedCheckpoint,
    TracedRelation,
    TraceSummary,
    longest_us,
    quantile_us,
)
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.forms.trace import RelationFigures
from pgassay.samples.trace_directory import TraceDirectory


def summarise_trace(directory: TraceDirectory) -> TraceSummary:
    """Summarises everything that a trace shows."""
    described = directory.described()
    start, end = described.started_ns, described.ended_ns
    traced = Traced(directory.table("points"), directory.table("transactions"), start, end)
    seconds = max(end - start, 1) / 1e9
    points = traced.between(start, end + 1)
    checkpoints = checkpoints_of(directory.table("phases").to_pylist(), start)
    pairs = sum(point.count for point in points)
    costs_ns = described.pair_cost_ns
    unknown = sorted({point.point for point in points} - costs_ns.keys())
    if unknown:
        place = directory.path / "trace.json"
        raise DirectoryRefused("pair-cost-missing", place, point=unknown[0])
    cost_ns = sum(point.count * costs_ns[point.point] for point in points)
    ended = traced.transactions(start, end)
    return TraceSummary(
        start_ns=start,
        end_ns=end,
        seconds=seconds,
        transactions=None if ended is None else round(ended),
        tps=None if ended is None else ended / seconds,
        points=points,
        checkpoints=checkpoints,
        periods=tuple(periods_of(checkpoints, traced)),
        relations=tuple(_relations(described.relations)),
        pairs=pairs,
        pairs_per_s=pairs / seconds,
        cost_share=cost_ns / 1e9 / seconds,
        times_ns=tuple(sum(own) // 2 for own in traced.spans),
        tps_course=tuple(traced.tps(*own) for own in traced.spans),
        courses=tuple(traced.courses([(point.point, point.key) for point in points])),
    )


def _relations(stored: Sequence[RelationFigures]) -> Iterator[TracedRelation]:
    for row in stored:
        yield TracedRelation(
            name=row.name,
            kind=row.kind,
            point=row.point,
            count=row.count,
            total_s=row.total_ns / 1e9,
            mean_us=row.total_ns / 1e3 / max(row.count, 1),
        )


_BESIDE_NS = 10_000_000_000
"""How far before and after is looked: short against the time between checkpoints, long enough for
ten readings."""
_CAUSES = ((0x0001, "shutdown"), (0x0002, "end of recovery"), (0x0080, "wal"), (0x0100, "time"))
"""Flags of a checkpoint (src/include/access/xlog.h)."""
_ASKED = "requested"

_Spans = dict[str, tuple[int | None, int | None]]
"""Phase → its beginning and end; None for one that lies outside of the trace."""


def checkpoints_of(
    events: Sequence[Mapping[str, Any]], first_ns: int
) -> tuple[TracedCheckpoint, ...]:
    """Returns the checkpoints of which anything was seen; one that was under way begins with the
    trace."""
    found: list[tuple[_Spans, str]] = []
    spans: _Spans = {}
    cause = ""

    def close() -> None:
        if spans:
            found.append((dict(spans), cause))
            spans.clear()

    for event in events:
        phase, at = event["phase"], event["time_ns"]
        if event["begins"]:
            if phase in spans or (phase == "checkpoint" and spans):
                close()
                cause = ""
            spans[phase] = (at, None)
            if phase == "checkpoint":
                cause = _cause(event["flags"])
        else:
            spans[phase] = (spans.get(phase, (None, None))[0], at)
            if phase == "checkpoint":
                close()
                cause = ""
    close()
    return tuple(_checkpoint(spans, cause, first_ns) for spans, cause in found)


def _cause(flags: int) -> str:
    return next((name for flag, name in _CAUSES if flags & flag), _ASKED)


def _checkpoint(spans: _Spans, cause: str, first_ns: int) -> TracedCheckpoint:
    whole = spans.get("checkpoint")
    ends = [end for _, end in spans.values() if end is not None]
    return TracedCheckpoint(
        start_ns=min(first_ns if start is None else start for start, _ in spans.values()),
        # A restartpoint has no probe of its own: its phases are all that is seen.
        end_ns=whole[1] if whole is not None else max(ends, default=None),
        cause=cause,
        write_s=_seconds(spans.get("write")),
        sync_s=_seconds(spans.get("sync")),
    )


def _seconds(span: tuple[int | None, int | None] | None) -> float | None:
    begin, end = span or (None, None)
    return None if begin is None or end is None else (end - begin) / 1e9


def periods_of(checkpoints: Sequence[TracedCheckpoint], traced: Traced) -> Iterator[Period]:
    """Yields up to ten seconds before a checkpoint, the checkpoint itself, up to ten seconds
    after."""
    before_ns = traced.start_ns
    for number, one in enumerate(checkpoints, start=1):
        end = one.end_ns or traced.end_ns
        later = checkpoints[number].start_ns if number < len(checkpoints) else traced.end_ns
        stretches = {
            "before": (max(before_ns, one.start_ns - _BESIDE_NS), one.start_ns),
            "during": (one.start_ns, end),
            "after": (end, min(end + _BESIDE_NS, later)),
        }
        for name, (start, stop) in stretches.items():
            points = traced.between(start, stop)
            if points:
                yield Period(number, name, (stop - start) / 1e9, traced.tps(start, stop), points)
        before_ns = end


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
        """Yields the course of each named trace point, second by second."""
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
