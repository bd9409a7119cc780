"""What happened while a server was observed, in tables: checkpoints, statements, log events, gaps.

Enters: the context. Leaves: a table for each section.
Never: estimates what a checkpoint costs.
"""

from __future__ import annotations

from pgassay.analysis.reading.plain_text import one_line
from pgassay.findings.wording import size, spaced
from pgassay.language import Message, decimals, tr
from pgassay.report.context import ObservationContext
from pgassay.report.document.section import Content, section
from pgassay.report.document.table import Cell, Column, table
from pgassay.report.log_events import event_words
from pgassay.report.tables.cells import ABSENT, moment

_MOST_CHECKPOINTS = 200
_MOST_STATEMENTS = 20
_WIDTH = 120
"""Characters of a statement's text."""
_CHECKPOINTS = (
    Column(Message("Started (UTC)"), "text"),
    Column(Message("Cause"), "text"),
    *map(Column, map(Message, ("Total", "Write", "Sync", "Buffers", "WAL distance"))),
)
_STATEMENTS = (
    Column(Message("Query id"), "text"),
    *map(
        Column,
        map(Message, ("Share", "Time", "Calls", "Mean", "Rows per call", "Blocks read", "WAL")),
    ),
    Column(Message("Statement"), "text"),
)


@section("observation/checkpoints", "Checkpoints")
def checkpoints(context: ObservationContext) -> Content | None:
    """An observation with a checkpoint."""
    found = context.observed.checkpoints
    if not found:
        return None
    rows = [
        (
            moment(row["started_ns"]),
            (tr("restartpoint, ") if row["restartpoint"] else "") + row["cause"],
            *(_number(row[name], 1, tr(" s")) for name in ("total_s", "write_s", "sync_s")),
            _number(row["buffers"]),
            ABSENT if row["distance_kb"] is None else size(row["distance_kb"] * 1024.0),
        )
        for row in found[:_MOST_CHECKPOINTS]
    ]
    return {"checkpoints": table(_CHECKPOINTS, rows), "more": len(found) - len(rows)}


def _number(value: float | None, digits: int = 0, unit: str = "") -> str:
    return ABSENT if value is None else f"{spaced(value, digits)}{unit}"


@section("observation/statements", "Statements that took most time")
def statements(context: ObservationContext) -> Content | None:
    """An observation of a server with pg_stat_statements."""
    found = context.observed.statements
    if not found:
        return None
    every = sum(one.exec_time_ms for one in found) or 1.0
    rows = [
        (
            one.queryid,
            f"{decimals(100 * one.exec_time_ms / every, '.1f')} %",
            tr("{value} s", value=spaced(one.exec_time_ms / 1000.0, 1)),
            spaced(one.calls, 0),
            tr("{value} ms", value=spaced(one.mean_ms, 3)),
            spaced(one.rows / max(one.calls, 1), 1),
            spaced(one.blocks_read, 0),
            size(one.wal_bytes),
            Cell(one_line(context.texts.get(one.queryid, ""), _WIDTH) or ABSENT, style="code"),
        )
        for one in found[:_MOST_STATEMENTS]
    ]
    return {"statements": table(_STATEMENTS, rows)}


@section("observation/log", "Events in the server’s log")
def log(context: ObservationContext) -> Content | None:
    """An observation with any listed event."""
    logged = context.observed.logged
    rows = [(words, spaced(logged[kind], 0)) for kind, words in event_words(logged)]
    return (
        {"events": table((Column(Message("Event"), "text"), Column(Message("Times"))), rows)}
        if rows
        else None
    )


@section("observation/gaps", "Times without samples")
def gaps(context: ObservationContext) -> Content | None:
    """An observation with a gap."""
    rows = [
        (moment(start), tr("{value} s", value=spaced((end - start) / 1000000000.0, 1)))
        for start, end in context.observed.gaps_ns
    ]
    columns = (Column(Message("From (UTC)"), "text"), Column(Message("Duration")))
    return {"gaps": table(columns, rows)} if rows else None
