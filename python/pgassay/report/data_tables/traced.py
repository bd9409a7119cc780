"""What a trace timed, as tables.

Enters: the context. Leaves: tables. Never: computes a figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pgassay.report.context import TraceContext
from pgassay.report.data_tables.model import table_of
from pgassay.report.document.table import Table
from pgassay.report.summaries.trace import caveats, facts


def trace_tables(context: TraceContext) -> Iterator[Table]:
    """Yields the tables of a trace, in the order of the report."""
    traced = context.traced
    yield table_of("facts", ({"name": name, "value": value} for name, value in facts(context)))
    yield table_of("points", _points(context))
    yield table_of("traced_checkpoints", traced.checkpoints)
    yield table_of("relations", traced.relations)
    yield table_of("point_courses", _courses(context))
    yield table_of("warnings", ({"text": text} for text in caveats(context)))


def _points(context: TraceContext) -> Iterator[dict[str, Any]]:
    for one in context.traced.points:
        yield {**vars(one), "period": "trace", "checkpoint": None}
    for period in context.traced.periods:
        for one in period.points:
            yield {**vars(one), "period": period.name, "checkpoint": period.checkpoint}


def _courses(context: TraceContext) -> Iterator[dict[str, Any]]:
    for one in context.traced.courses:
        for at, time in enumerate(context.traced.times_ns):
            yield {
                "time_ns": time,
                "point": one.point,
                "key": one.key,
                "count": one.count[at],
                "in_it": one.in_it[at],
                "p99_us": one.p99_us[at],
            }
