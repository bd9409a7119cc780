"""A stored trace as figures.

Enters: the directory of a trace. Leaves: a `TraceSummary`. Never: tests anything: one trace is one
unit, and what stands beside a checkpoint in time need not come from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.trace.checkpoints import checkpoints_of, periods_of
from pgassay.analysis.trace.model import TracedRelation, TraceSummary
from pgassay.analysis.trace.traced import Traced
from pgassay.errors import RunDirectoryError
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
        raise RunDirectoryError(
            f"{directory.path / 'trace.json'}: is damaged: 'pair_cost_ns.{unknown[0]}' is missing"
        )
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
