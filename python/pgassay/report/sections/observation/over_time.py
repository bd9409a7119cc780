"""The observation over time: commits, how far a standby is behind, the host.

Enters: the context. Leaves: charts, and tables in vmstat's and iostat's columns.
Never: joins a line over a gap, draws a lag that is not known, or shows an unread figure as zero.
"""

from __future__ import annotations

from pgassay.language import Message
from pgassay.report.charts.over_time.observed import (
    disks_chart,
    processors_chart,
    standby_chart,
    throughput_chart,
)
from pgassay.report.context import ObservationContext
from pgassay.report.document.section import Content, section
from pgassay.report.tables.host import host_tables_over_time

_FROM = {
    "counters": Message(" (from the server’s counters, to a second)"),
    "both": Message(" (some from the server’s counters alone, to a second)"),
}


@section("observation/throughput", "Commits per second")
def throughput(context: ObservationContext) -> Content:
    """All observations have the section; it says so where the counters were not read."""
    observed = context.observed
    return {
        "chart": throughput_chart(observed),
        "checkpoints_from": _FROM.get(observed.checkpoints_from, ""),
    }


@section("observation/standby", "Behind the primary")
def standby(context: ObservationContext) -> Content | None:
    """A standby whose lag is known at any time."""
    chart = standby_chart(context.observed)
    return None if chart is None else {"chart": chart}


@section("observation/host", "Host, WAL and disks")
def host(context: ObservationContext) -> Content | None:
    """An observation that read the host or the WAL."""
    observed = context.observed
    found = {
        "processors": processors_chart(observed),
        "disks": disks_chart(observed),
        "hosts": host_tables_over_time(observed.host_windows, observed.host),
    }
    return found if any(found.values()) else None
