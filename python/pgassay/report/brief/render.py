"""The brief of a run, runs over weeks, an observation, its incidents, a trace or two periods.

Enters: the context. Leaves: plain text within a limit. Never: holds a secret.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.language import tr
from pgassay.report.brief.answer import answer_parts
from pgassay.report.brief.fitting import fit, texts
from pgassay.report.brief.plain import Part, plain_lines
from pgassay.report.brief.record import record_parts
from pgassay.report.brief.recorded import (
    history_parts,
    incidents_parts,
    observation_parts,
    periods_parts,
    trace_parts,
)
from pgassay.report.context import (
    BriefContext,
    HistoryContext,
    IncidentsContext,
    ObservationContext,
    PeriodsContext,
    TraceContext,
)
from pgassay.report.environment import created_at, server_version


def render_brief(context: BriefContext) -> str:
    """Returns the whole brief as plain text."""
    what, parts = parts_of(context)
    head = str(texts()["head"]).format(
        what=what,
        name=context.run_name,
        where=where(context),
        version=context.version,
        limit=texts()["limit"],
    )
    return fit(head, {name: plain_lines(part) for name, part in parts.items()})


def parts_of(context: BriefContext) -> tuple[str, Mapping[str, Part]]:
    """Returns what the brief is of, and the blocks of its parts."""
    if isinstance(context, ObservationContext):
        return tr("Observation"), observation_parts(context)
    if isinstance(context, TraceContext):
        return tr("Trace"), trace_parts(context)
    if isinstance(context, PeriodsContext):
        return tr("Two periods"), periods_parts(context)
    if isinstance(context, IncidentsContext):
        return tr("Incidents"), incidents_parts(context)
    if isinstance(context, HistoryContext):
        return tr("History of runs"), history_parts(context)
    return tr("Experiment"), answer_parts(context) | record_parts(context)


def where(context: BriefContext) -> str:
    """On which server it was made, and when, as far as it is known."""
    if isinstance(context, TraceContext):
        return tr(
            " on PostgreSQL {server_version}", server_version=context.described.server_version
        )
    server, when = server_version(context.environment), created_at(context.environment)
    return f"{tr(' on {server}', server=server) if server else ''}{f', {when}' if when else ''}"
