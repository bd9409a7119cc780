"""A report before it is rendered: its top, and the sections that apply.

Enters: the context of a run, an observation or a trace. Leaves: a `Page`. Never: renders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.language import ntr, tr
from pgassay.report.context import (
    AnyContext,
    ApartContext,
    HistoryContext,
    IncidentsContext,
    ObservationContext,
    PeriodsContext,
    ReportContext,
    TraceContext,
)
from pgassay.report.document.blocks import Block
from pgassay.report.document.section import Filled, Section
from pgassay.report.environment import created_at, server_version
from pgassay.report.sections.run_parts import RUN_PARTS, RUN_SECTIONS
from pgassay.report.summaries.top import top_of


@dataclass(frozen=True)
class Page:
    """What HTML and Markdown render."""

    title: str
    run_name: str
    version: str
    notes: tuple[str, ...]
    """Beside the run's name: the server's version, when it ran."""
    top: tuple[Block, ...]
    """The answers, what could change them, and facts to weigh them by."""
    parts: tuple[tuple[str, tuple[Filled, ...]], ...]
    """Title of a part → those of its sections that apply; one without a title where the page is not
    of a run."""

    @property
    def sections(self) -> tuple[Filled, ...]:
        """All sections that apply."""
        return tuple(one for _, part in self.parts for one in part)


def page_of(context: AnyContext) -> Page:
    """Makes the page of a run, an observation, a trace or a comparison of runs."""
    return Page(
        context.title,
        tr("comparison of runs") if isinstance(context, ApartContext) else context.run_name,
        context.version,
        tuple(filter(None, _notes(context))),
        top_of(context),
        tuple(
            (title, found)
            for title, part in _parts_of(context)
            if (found := tuple(one for each in part if (one := each.filled(context)).blocks))
        ),
    )


def _parts_of(context: AnyContext) -> Sequence[tuple[str, Sequence[Section]]]:
    return RUN_PARTS if isinstance(context, ReportContext) else (("", sections_of(context)),)


def sections_of(context: AnyContext) -> Sequence[Section]:
    """All sections that such a page can have, in their order."""
    match context:
        case ReportContext():
            return RUN_SECTIONS
        # Reports of runs need none of these.
        case ObservationContext():
            from pgassay.report.sections.observation import OBSERVATION_SECTIONS

            return OBSERVATION_SECTIONS
        case ApartContext():
            from pgassay.report.sections.apart import APART_SECTIONS

            return APART_SECTIONS
        case HistoryContext():
            from pgassay.report.sections.history import HISTORY_SECTIONS

            return HISTORY_SECTIONS
        case PeriodsContext():
            from pgassay.report.sections.periods import PERIOD_SECTIONS

            return PERIOD_SECTIONS
        case IncidentsContext():
            from pgassay.report.sections.incidents import INCIDENT_SECTIONS

            return INCIDENT_SECTIONS
        case TraceContext():
            from pgassay.report.sections.trace import TRACE_SECTIONS

            return TRACE_SECTIONS


def _notes(context: AnyContext) -> tuple[str, str]:
    match context:
        case ReportContext():
            return server_version(context.environment), created_at(context.environment)
        case ObservationContext():
            return server_version(context.environment), tr("observation, no verdict")
        case TraceContext():
            return f"PostgreSQL {context.described.server_version}", tr("trace, no verdict")
        case ApartContext():
            return tr("made apart, not randomised"), ""
        case HistoryContext():
            runs = context.analysis.runs
            return ntr("{n} run", "{n} runs", len(runs)), tr("made apart, not randomised")
        case PeriodsContext():
            return server_version(context.environment), tr("observed, not randomised")
        case IncidentsContext():
            return tr("observation, no verdict"), ""
