"""What an observation recorded, as tables.

Enters: the context. Leaves: tables. Never: gives an unknown figure as zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from pgassay.report.context import ObservationContext
from pgassay.report.data_tables.model import blank, table_of
from pgassay.report.data_tables.record import environment_rows, finding_row, setting_rows
from pgassay.report.data_tables.recorded import classic_rows, host_rows
from pgassay.report.document.table import Table, data_column
from pgassay.report.summaries.observation import caveats, facts

COURSE_UNITS = {
    "tps": "1/s",
    "rollbacks": "1/s",
    "wal": "B/s",
    "read": "B/s",
    "written": "B/s",
    "busy": "%",
    "iowait": "%",
    "steal": "%",
    "replay_lag_ms": "ms",
    "replay_behind_bytes": "B",
    "receive_behind_bytes": "B",
}


def observation_tables(context: ObservationContext) -> Iterator[Table]:
    """Yields the tables of an observation, in the order of the report."""
    observed = context.observed
    yield table_of("facts", ({"name": name, "value": value} for name, value in facts(context)))
    yield _courses(context)
    yield table_of("findings", map(finding_row, context.findings))
    yield table_of("observed_methods", _methods(context))
    yield table_of("wait_events", _wait_events(context))
    yield table_of("observed_statements", _statements(context))
    yield table_of("checkpoints", map(_checkpoint, observed.checkpoints))
    yield table_of("log_events", _log_events(context))
    yield table_of("host", (row for one in observed.host_windows for row in host_rows(one)))
    arms = () if observed.classic is None else observed.classic.arms
    for name, rows in classic_rows(arms).items():
        yield table_of(name, rows)
    yield table_of("warnings", ({"text": text} for text in caveats(context)))
    yield table_of("settings", setting_rows(context.environment))
    yield table_of("environment", environment_rows(context.environment))


def _courses(context: ObservationContext) -> Table:
    """Every course, then the average sessions of every wait class."""
    observed = context.observed
    series = {data_column(n, COURSE_UNITS.get(n, ""), n): v for n, v in observed.courses.items()}
    series |= {
        data_column(f"sessions_{name}", "", f"Average active sessions: {name}"): values
        for name, values in observed.sessions.items()
    }
    rows = (
        {
            "start_ns": start,
            "duration_s": (end - start) / 1e9,
            **{column.name: values[at] for column, values in series.items()},
        }
        for at, (start, end) in enumerate(pairwise(observed.edges_ns))
    )
    return table_of("courses", rows, tuple(series))


def _wait_events(context: ObservationContext) -> Iterator[dict[str, Any]]:
    observed = context.observed
    sources = {"pgassay": observed.events, "pg_wait_sampling": observed.sampled_waits}
    for source, events in sources.items():
        for event, sessions in events.items():
            own = {"source": source, "event": event, "sessions": sessions}
            yield blank("wait_events") | own


def _methods(context: ObservationContext) -> Iterator[dict[str, Any]]:
    for one in context.methods:
        figures = (one.mean, min(one.values), max(one.values)) if one.values else (None,) * 3
        words = {"of": str(one.cell.of), "title": str(one.cell.title)}
        yield vars(one.cell) | words | dict(zip(("mean", "least", "most"), figures, strict=True))


def _log_events(context: ObservationContext) -> Iterator[dict[str, Any]]:
    for event, count in context.observed.logged.items():
        yield blank("log_events") | {"event": event, "count": count}


def _statements(context: ObservationContext) -> Iterator[dict[str, Any]]:
    for one in context.observed.statements:
        text = context.texts.get(one.queryid)
        yield {**vars(one), "mean_ms": one.mean_ms, "text": text}


def _checkpoint(row: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of trials alone are absent."""
    start, end = row["started_ns"], row.get("ended_ns")
    return {
        **blank("checkpoints"),
        **row,
        "ended_s": None if end is None else (end - start) / 1e9,
    }
