"""What happened while a server was observed, in tables: checkpoints, statements, log events, gaps.

Enters: the context. Leaves: a table for each section.
Never: estimates what a checkpoint costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgassay.analysis.reading.plain_text import one_line
from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.language import decimals, tr
from pgassay.quantities import size, spaced
from pgassay.report.context import IncidentsContext, ObservationContext
from pgassay.report.document.blocks import note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Cell, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.log_events import event_words
from pgassay.report.tables.cells import ABSENT, moment, whole, written

sentence = texts_of(__name__)

_MOST_CHECKPOINTS = 200
_MOST_STATEMENTS = 20
_WIDTH = 120
"""Characters of a statement's text."""
_SETTINGS = (
    written("at_ns", "Changed (UTC)", moment, "text"),
    written("name", "Setting", str, "text"),
    written("first", "Before", setting_text, "text"),
    written("second", "After", setting_text, "text"),
)
_CHECKPOINTS = (
    written("started_ns", "Started (UTC)", moment, "text"),
    column("cause", "Cause", lambda row: _cause(row), "text"),
    written("total_s", "Total", lambda seconds: _seconds(seconds)),
    written("write_s", "Write", lambda seconds: _seconds(seconds)),
    written("sync_s", "Sync", lambda seconds: _seconds(seconds)),
    written("buffers", "Buffers", whole),
    written("distance_kb", "WAL distance", lambda kb: size(kb * 1024.0)),
)
_STATEMENTS = (
    written("exec_time_ms", "Time", lambda ms: _seconds(ms / 1000.0)),
    written("calls", "Calls", whole),
    written("mean_ms", "Mean", lambda ms: tr("{value} ms", value=spaced(ms, 3))),
    column("rows", "Rows per call", lambda one: spaced(one.rows / max(one.calls, 1), 1)),
    written("blocks_read", "Blocks read", whole),
    written("wal_bytes", "WAL", size),
)
_GAPS = (
    written("0", "From (UTC)", moment, "text"),
    column("1", "Duration", lambda gap: _seconds((gap[1] - gap[0]) / 1e9)),
)


@section("observation/settings", "Settings changed in this time")
def settings(context: ObservationContext | IncidentsContext) -> Blocks:
    """Lists the settings that somebody changed while the server was observed."""
    yield view(_SETTINGS, context.described.changed_settings)


@section("observation/checkpoints", "Checkpoints")
def checkpoints(context: ObservationContext) -> Blocks:
    """Lists the checkpoints, up to a number that a reader can use."""
    found = context.observed.checkpoints
    yield summed_up("report/sections/checkpoints", n=len(found))
    yield view(_CHECKPOINTS, found[:_MOST_CHECKPOINTS])
    if more := len(found[_MOST_CHECKPOINTS:]):
        yield note(tr("{more} more are in the Parquet files.", more=more))


def _cause(row: Mapping[str, Any]) -> str:
    return f"{tr('restartpoint, ') if row['restartpoint'] else ''}{row['cause']}"


def _seconds(value: float) -> str:
    return tr("{value} s", value=spaced(value, 1))


@section("observation/statements", "Statements that took most time")
def statements(context: ObservationContext) -> Blocks:
    """Lists what pg_stat_statements counted; yields nothing where the server does not have it."""
    found = context.observed.statements
    if not found:
        return
    yield summed_up("report/sections/statements", n=len(found))
    every = sum(one.exec_time_ms for one in found) or 1.0
    columns = (
        written("queryid", "Query id", str, "text"),
        column(
            "share_pct", "Share", lambda o: f"{decimals(100 * o.exec_time_ms / every, '.1f')} %"
        ),
        *_STATEMENTS,
        column("text", "Statement", lambda one: _text(context, one.queryid), "text"),
    )
    yield view(columns, found[:_MOST_STATEMENTS])
    yield note(sentence("differences_of_pgstatstatements_over"))


def _text(context: ObservationContext, queryid: str) -> Cell:
    return Cell(one_line(context.texts.get(queryid, ""), _WIDTH) or ABSENT, style="code")


@section("observation/log", "Events in the server’s log")
def log(context: ObservationContext) -> Blocks:
    """Counts the events in the server's log by kind."""
    logged = context.observed.logged
    yield summed_up("report/sections/events", n=sum(logged.values()))
    rows = [{"event": words, "count": logged[kind]} for kind, words in event_words(logged)]
    yield view((written("event", "Event", str, "text"), written("count", "Times", whole)), rows)


@section("observation/gaps", "Times without samples")
def gaps(context: ObservationContext) -> Blocks:
    """Lists the times in which nothing was sampled."""
    if found := context.observed.gaps_ns:
        seconds = sum(end - start for start, end in found) / 1e9
        yield summed_up("report/sections/gaps", unusual=True, n=len(found), seconds=seconds)
        yield view(_GAPS, found)
        yield note(sentence("the_server_was_unreachable"))
