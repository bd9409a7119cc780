"""What happened while a server was observed, in tables: checkpoints, statements, log events, gaps.

Enters: the context. Leaves: a table for each section.
Never: estimates what a checkpoint costs.
"""

from __future__ import annotations

from pgassay.analysis.reading.plain_text import one_line
from pgassay.language import Message, decimals, tr
from pgassay.quantities import size, spaced
from pgassay.report.context import ObservationContext
from pgassay.report.document.blocks import note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, numbers, table
from pgassay.report.document.text import texts_of
from pgassay.report.log_events import event_words
from pgassay.report.tables.cells import ABSENT, moment

sentence = texts_of(__name__)

_MOST_CHECKPOINTS = 200
_MOST_STATEMENTS = 20
_WIDTH = 120
"""Characters of a statement's text."""
_CHECKPOINTS = (
    Column(Message("Started (UTC)"), "text"),
    Column(Message("Cause"), "text"),
    *numbers("Total", "Write", "Sync", "Buffers", "WAL distance"),
)
_STATEMENTS = (
    Column(Message("Query id"), "text"),
    *numbers("Share", "Time", "Calls", "Mean", "Rows per call", "Blocks read", "WAL"),
    Column(Message("Statement"), "text"),
)


@section("observation/checkpoints", "Checkpoints")
def checkpoints(context: ObservationContext) -> Blocks:
    """Lists the checkpoints, up to a number that a reader can use."""
    found = context.observed.checkpoints
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
    yield table(_CHECKPOINTS, rows)
    if more := len(found) - len(rows):
        yield note(tr("{more} more are in the Parquet files.", more=more))


def _number(value: float | None, digits: int = 0, unit: str = "") -> str:
    return ABSENT if value is None else f"{spaced(value, digits)}{unit}"


@section("observation/statements", "Statements that took most time")
def statements(context: ObservationContext) -> Blocks:
    """Lists what pg_stat_statements counted; yields nothing where the server does not have it."""
    found = context.observed.statements
    if not found:
        return
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
    yield table(_STATEMENTS, rows)
    yield note(sentence("differences_of_pgstatstatements_over"))


@section("observation/log", "Events in the server’s log")
def log(context: ObservationContext) -> Blocks:
    """Counts the events in the server's log by kind."""
    logged = context.observed.logged
    rows = [(words, spaced(logged[kind], 0)) for kind, words in event_words(logged)]
    yield table((Column(Message("Event"), "text"), Column(Message("Times"))), rows)


@section("observation/gaps", "Times without samples")
def gaps(context: ObservationContext) -> Blocks:
    """Lists the times in which nothing was sampled."""
    rows = [
        (moment(start), tr("{value} s", value=spaced((end - start) / 1000000000.0, 1)))
        for start, end in context.observed.gaps_ns
    ]
    columns = (Column(Message("From (UTC)"), "text"), Column(Message("Duration")))
    if rows:
        yield table(columns, rows)
        yield note(sentence("the_server_was_unreachable"))
