"""What was traced, in tables: by point, around checkpoints, by relation.

Enters: the context. Leaves: a table for each section. Never: says that a checkpoint caused what
stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.trace.model import Period, PointSummary, TracedCheckpoint
from pgassay.language import Message, decimals, tr
from pgassay.quantities import plain_number, spaced
from pgassay.report.context import TraceContext
from pgassay.report.document.blocks import Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Column, Table, numbers, table
from pgassay.report.document.text import texts_of
from pgassay.report.summaries.trace import microseconds, point_name
from pgassay.report.tables.cells import ABSENT, moment

sentence = texts_of(__name__)

_MOST_POINTS = 40
_MOST_CHECKPOINTS = 10
_AROUND = 5
_MOST_RELATIONS = 20
_IN_ALL = Message("Times"), Message("Total")
_POINTS = (
    Column(Message("Point"), "heading"),
    *numbers("Per second", "In it", "Per transaction", "Mean", "Median", "p99", "At most"),
    *numbers(*_IN_ALL),
)
_RELATIONS = (
    Column(Message("Relation"), "heading"),
    Column(Message("Kind"), "text"),
    Column(Message("What"), "text"),
    *numbers("Times", "Time", "Mean"),
)


def points_table(points: Sequence[PointSummary], *, is_whole: bool = False) -> Table:
    """Makes a table of traced points: how often and how long processes were in each.

    The whole table also has the sums over the time that was traced.
    """
    found = table(
        _POINTS,
        [
            (
                point_name(one.point, one.key),
                plain_number(one.per_s),
                decimals(one.in_it, ".2f") if one.in_it >= 0.01 else "< 0.01",
                microseconds(one.per_tx_us),
                *map(microseconds, (one.mean_us, one.p50_us, one.p99_us, one.longest_us)),
                spaced(one.count, 0),
                tr("{value} s", value=plain_number(one.total_s)),
            )
            for one in points
        ],
    )
    return found if is_whole else found.without(*_IN_ALL)


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
    columns = (
        Column(Message("Started (UTC)"), "text"),
        Column(Message("Cause"), "text"),
        *numbers("Total", "Write", "Sync"),
    )
    rows = [
        (
            moment(one.start_ns),
            one.cause or ABSENT,
            _seconds(None if one.end_ns is None else (one.end_ns - one.start_ns) / 1e9),
            _seconds(one.write_s),
            _seconds(one.sync_s),
        )
        for one in checkpoints[:_MOST_CHECKPOINTS]
    ]
    return table(columns, rows)


def _around_table(periods: Sequence[Period], shown: Sequence[PointSummary]) -> Table:
    names = [point_name(one.point, one.key) for one in shown]
    columns = (
        Column(Message("Checkpoint"), "group"),
        Column(Message("When"), "heading"),
        Column(Message("Seconds")),
        Column(Message("Transactions/s")),
        *(Column(tr("{name}: in it · p99", name=name)) for name in names),
    )
    rows = []
    for period in periods:
        if period.checkpoint > _MOST_CHECKPOINTS:
            continue
        by_name = {(one.point, one.key): one for one in period.points}
        cells = [by_name.get((one.point, one.key)) for one in shown]
        rows.append(
            (
                tr("Checkpoint {checkpoint}", checkpoint=period.checkpoint),
                period.name,
                spaced(period.seconds, 1),
                ABSENT if period.tps is None else spaced(period.tps, 0),
                *(
                    ABSENT
                    if one is None
                    else f"{decimals(one.in_it, '.2f')} · {microseconds(one.p99_us)}"
                    for one in cells
                ),
            )
        )
    return table(columns, rows)


def _seconds(value: float | None) -> str:
    return ABSENT if value is None else tr("{value} s", value=spaced(value, 2))


@section("trace/relations", "Relations that were read and written")
def relations(context: TraceContext) -> Blocks:
    """Shows the relations whose reads and writes took most time."""
    found = context.traced.relations
    if not found:
        return
    rows = [
        (
            one.name,
            one.kind or ABSENT,
            point_name(one.point, ""),
            spaced(one.count, 0),
            tr("{value} s", value=spaced(one.total_s, 2)),
            microseconds(one.mean_us),
        )
        for one in found[:_MOST_RELATIONS]
    ]
    yield table(_RELATIONS, rows)
    more = len(found[_MOST_RELATIONS:])
    yield note(
        sentence("over_the_whole_trace"),
        more and tr("{more} more are in trace.json.", more=more),
    )
