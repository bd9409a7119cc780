"""What an observation, its incidents, two periods, a trace, or runs over weeks recorded.

Enters: the context. Leaves: part → its blocks and lines. Never: judges.
"""

from __future__ import annotations

from pgassay.language import Message, tr
from pgassay.report.brief.fitting import texts
from pgassay.report.brief.plain import Part, number_lines
from pgassay.report.brief.record import environment_part, setting_blocks
from pgassay.report.context import (
    HistoryContext,
    IncidentsContext,
    ObservationContext,
    PeriodsContext,
    TraceContext,
)
from pgassay.report.data_tables.observed import COURSE_UNITS
from pgassay.report.document.blocks import Facts, Heading
from pgassay.report.environment import not_measured
from pgassay.report.sections.incidents import found, trees
from pgassay.report.sections.observation import lists, method, recognised, waits
from pgassay.report.summaries import observation as observation_summary
from pgassay.report.tables.infrastructure import observed_host_table
from pgassay.report.tables.profile import classic_facts

_SOURCES = {
    "log": Message("the server’s log"),
    "counters": Message("the server’s counters"),
    "both": Message("the server’s log and its counters"),
}


def observation_parts(context: ObservationContext) -> dict[str, Part]:
    """Returns the blocks of an observation, by the names that `parts.toml` lists."""
    observed = context.observed
    known_from = tr(
        "{number}, known from {source}",
        number=len(observed.checkpoints),
        source=_SOURCES.get(observed.checkpoints_from, observed.checkpoints_from),
    )
    return {
        "summary": [
            context.title,
            Facts(observation_summary.facts(context)),
            *number_lines(tr("Averages"), observed.averages, COURSE_UNITS),
            *number_lines(tr("Largest"), observed.largest, COURSE_UNITS),
            *lists.log.blocks(context),
        ],
        "meaning": [*map(str, texts()["meaning"]["recorded"])],
        "caveats": method.caveats.blocks(context),
        "profile": [
            Facts(classic_facts(observed.classic)),
            observed_host_table(context).without_zeros()[0],
        ],
        "diagnosis": recognised.diagnosis.blocks(context),
        "incidents": [*found.incidents.blocks(context), *trees.lock_trees.blocks(context)],
        "waits": waits.waits.blocks(context),
        "statements": lists.statements.blocks(context),
        "checkpoints": [known_from, *lists.checkpoints.blocks(context)],
        "settings": setting_blocks(context.environment),
        "environment": environment_part(context.environment),
        "not_measured": [Facts(not_measured(context.environment), "sentences")],
    }


def incidents_parts(context: IncidentsContext) -> dict[str, Part]:
    """Returns the blocks of the incidents of an observation, by the names that `parts.toml`
    lists."""
    # Briefs of runs need none of it.
    from pgassay.report.sections.incidents import suspect
    from pgassay.report.summaries import incidents as incidents_summary

    return {
        "summary": [context.title, Facts(incidents_summary.facts(context))],
        "meaning": [*map(str, texts()["meaning"]["recorded"])],
        "caveats": found.limits.blocks(context),
        "findings": suspect.suspect.blocks(context),
        "incidents": [*found.incidents.blocks(context), *trees.lock_trees.blocks(context)],
        "settings": setting_blocks(context.environment),
        "environment": environment_part(context.environment),
    }


def history_parts(context: HistoryContext) -> dict[str, Part]:
    """Returns the blocks of runs over weeks, by the names that `parts.toml` lists."""
    # Briefs of runs need none of it.
    from pgassay.report.sections.answer.gates import gates
    from pgassay.report.sections.history import changes, record
    from pgassay.report.summaries import history as history_summary

    return {
        "answer": [*history_summary.answers(context), Facts(history_summary.facts(context))],
        "figures": changes.changes.blocks(context),
        "gates": gates.blocks(context),
        "meaning": [*map(str, texts()["meaning"]["history"])],
        "caveats": record.limits.blocks(context),
        "beside": [changes.change_table(changes.beside_main(context), context)],
        "runs": record.runs.blocks(context),
        "settings": setting_blocks(context.environment),
        "environment": environment_part(context.environment),
    }


def periods_parts(context: PeriodsContext) -> dict[str, Part]:
    """Returns the blocks of two periods, by the names that `parts.toml` lists."""
    # Briefs of runs need none of it.
    from pgassay.report.sections.periods import changes, record
    from pgassay.report.sections.periods.groups import GROUP_SECTIONS
    from pgassay.report.summaries import periods as periods_summary

    groups = [
        block
        for one in GROUP_SECTIONS
        if (found := one.blocks(context))
        for block in (Heading(one.title), *found)
    ]
    return {
        "answer": [*periods_summary.answers(context), Facts(periods_summary.facts(context))],
        "figures": changes.most.blocks(context),
        "meaning": [*map(str, texts()["meaning"]["periods"])],
        "caveats": record.limits.blocks(context),
        "findings": changes.suspect.blocks(context),
        "periods": groups,
        "settings": changes.settings.blocks(context),
        "environment": environment_part(context.environment),
    }


def trace_parts(context: TraceContext) -> dict[str, Part]:
    """Returns the blocks of a trace, by the names that `parts.toml` lists."""
    # Briefs of runs need none of it.
    from pgassay.report.sections.trace import figures
    from pgassay.report.sections.trace import method as trace_method
    from pgassay.report.summaries import trace as trace_summary

    return {
        "summary": [context.title, Facts(trace_summary.facts(context))],
        "meaning": [str(texts()["meaning"]["recorded"][0])],
        "caveats": trace_method.caveats.blocks(context),
        "points": [figures.points_table(context.traced.points, is_whole=True)],
        "checkpoints": figures.around.blocks(context),
    }
