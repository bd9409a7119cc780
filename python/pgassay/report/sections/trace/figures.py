"""What was traced, in tables: by point, around checkpoints, by relation.

Enters: the context. Leaves: a table for each section. Never: says that a checkpoint caused what
stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.trace.model import Period, PointSummary, TracedCheckpoint
from pgassay.language import Message, decimals, tr
from pgassay.quantities import plain_number, rate, spaced
from pgassay.report.context import TraceContext
from pgassay.report.document.blocks import Paragraph, note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Cell, Column, Table, column, table, view
from pgassay.report.document.text import texts_of
from pgassay.report.summaries.trace import microseconds, point_name
from pgassay.report.tables.cells import ABSENT, moment, valued, whole, written

sentence = texts_of(__name__)

_MOST_POINTS = 40
_MOST_CHECKPOINTS = 10
_AROUND = 5
_MOST_RELATIONS = 20
_POINTS = (
    column("point", "Point", lambda one: point_name(one.point, one.key), "heading"),
    written("per_s", "Per second", plain_number),
    written("in_it", "In it", lambda n: decimals(n, ".2f") if n >= 0.01 else "< 0.01"),
    written("per_tx_us", "Per transaction", microseconds),
    written("mean_us", "Mean", microseconds),
    written("p50_us", "Median", microseconds),
    written("p99_us", "p99", microseconds),
    written("longest_us", "At most", microseconds),
    written("count", "Times", whole),
    written("total_s", "Total", lambda s: tr("{value} s", value=plain_number(s))),
)
_RELATIONS = (
    written("name", "Relation", str, "heading"),
    written("kind", "Kind", lambda kind: kind or ABSENT, "text"),
    column("point", "What", lambda one: point_name(one.point, ""), "text"),
    written("count", "Times", whole),
    written("total_s", "Time", lambda seconds: _seconds(seconds)),
    written("mean_us", "Mean", microseconds),
)
_CHECKPOINTS = (
    written("start_ns", "Started (UTC)", moment, "text"),
    written("cause", "Cause", lambda cause: cause or ABSENT, "text"),
    column("end_ns", "Total", lambda one: _total(one)),
    written("write_s", "Write", lambda seconds: _seconds(seconds)),
    written("sync_s", "Sync", lambda seconds: _seconds(seconds)),
)


def points_table(points: Sequence[PointSummary], *, is_whole: bool = False) -> Table:
    """Makes a table of traced points: how often and how long processes were in each.

    The whole table also has the sums over the time that was traced.
    """
    return view(_POINTS, points).only_if(count=is_whole, total_s=is_whole)


@section("trace/points", "Where time was spent")
def points(context: TraceContext) -> Blocks:
    """Shows the points that took most time; says so where none was met."""
    found = context.traced.points
    if not found:
        yield Paragraph(tr("Nothing of what was traced happened."))
        return
    yield points_table(found[:_MOST_POINTS])
    more = len(found[_MOST_POINTS:])
    yield note(
        sentence("in_it_processes_that"),
        more and tr("{more} more are in points.parquet.", more=more),
    )


@section("trace/around", "Checkpoints")
def around(context: TraceContext) -> Blocks:
    """Shows each checkpoint, and the longest points before, during and after it."""
    traced = context.traced
    yield checkpoint_table(traced.checkpoints)
    if (more := len(traced.checkpoints) - _MOST_CHECKPOINTS) > 0:
        yield note(tr("{more} more are in phases.parquet.", more=more))
    if traced.checkpoints and (found := _around_table(traced.periods, traced.points[:_AROUND])):
        yield found
        yield note(sentence.marked("before_and_after_up"))


def checkpoint_table(checkpoints: Sequence[TracedCheckpoint]) -> Table:
    """Makes a table of checkpoints: start (UTC), cause, seconds of the whole and of its phases."""
    return view(_CHECKPOINTS, checkpoints[:_MOST_CHECKPOINTS])


def _total(one: TracedCheckpoint) -> str:
    return _seconds(None if one.end_ns is None else (one.end_ns - one.start_ns) / 1e9)


def _around_table(periods: Sequence[Period], shown: Sequence[PointSummary]) -> Table:
    names = [point_name(one.point, one.key) for one in shown]
    columns = (
        Column(Message("Checkpoint"), "group"),
        Column(Message("When"), "heading"),
        Column(Message("Seconds")),
        Column(Message("Transactions/s")),
        *(Column(tr("{name}: in it · p99", name=name)) for name in names),
    )
    rows: list[tuple[str | Cell, ...]] = []
    for period in periods:
        if period.checkpoint > _MOST_CHECKPOINTS:
            continue
        by_name = {(one.point, one.key): one for one in period.points}
        rows.append(
            (
                tr("Checkpoint {checkpoint}", checkpoint=period.checkpoint),
                period.name,
                Cell(spaced(period.seconds, 1), value=period.seconds),
                valued(period.tps, rate),
                *(_in_it(by_name.get((one.point, one.key))) for one in shown),
            )
        )
    return table(columns, rows)


def _in_it(one: PointSummary | None) -> Cell:
    if one is None:
        return Cell(ABSENT)
    return Cell(f"{decimals(one.in_it, '.2f')} · {microseconds(one.p99_us)}", value=one.in_it)


def _seconds(value: float | None) -> str:
    return ABSENT if value is None else tr("{value} s", value=spaced(value, 2))


@section("trace/relations", "Relations that were read and written")
def relations(context: TraceContext) -> Blocks:
    """Shows the relations whose reads and writes took most time."""
    found = context.traced.relations
    if not found:
        return
    yield summed_up("report/sections/relations", n=len(found))
    yield view(_RELATIONS, found[:_MOST_RELATIONS])
    more = len(found[_MOST_RELATIONS:])
    yield note(
        sentence("over_the_whole_trace"),
        more and tr("{more} more are in trace.json.", more=more),
    )
