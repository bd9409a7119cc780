"""A report before it is rendered: its top, and the sections that apply.

Enters: the context of a run, an observation or a trace. Leaves: a `Page`. Never: renders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pgassay.language import ntr, tr
from pgassay.notes import Importance
from pgassay.report.context import ApartContext, ObservationContext, ReportContext, TraceContext
from pgassay.report.document.blocks import Answer, Block, Facts, Paragraph
from pgassay.report.document.section import Section
from pgassay.report.document.text import Inline, Span, said
from pgassay.report.environment import created_at, server_version
from pgassay.report.sections import RUN_PARTS, RUN_SECTIONS
from pgassay.report.sections.apart import APART_SECTIONS
from pgassay.report.sections.observation import OBSERVATION_SECTIONS
from pgassay.report.summaries import apart as apart_summary
from pgassay.report.summaries import headline
from pgassay.report.summaries import observation as observation_summary
from pgassay.report.summaries.caveats import caveats_of, caveats_that_matter

AnyContext = ReportContext | ObservationContext | TraceContext | ApartContext
_MOST_DOUBTS = 2
"""Caveats beneath the verdict; the section of caveats has all."""


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
    sections: tuple[tuple[Section, tuple[Block, ...]], ...]
    """Those that apply, with their blocks."""

    @property
    def contents(self) -> tuple[tuple[str, tuple[Section, ...]], ...]:
        """Title of a part → its sections on this page; no titles for an observation or a trace."""
        here = [section for section, _ in self.sections]
        parts = [(title, [one for one in here if one in part]) for title, part in RUN_PARTS]
        found = tuple((title, tuple(own)) for title, own in parts if own)
        return found or (("", tuple(here)),)


def page_of(context: AnyContext) -> Page:
    """Makes the page of a run, an observation, a trace or a comparison of runs."""
    if isinstance(context, ObservationContext):
        return _page_of_observation(context)
    if isinstance(context, TraceContext):
        return _page_of_trace(context)
    if isinstance(context, ApartContext):
        return _page_of_apart(context)
    doubts = caveats_of(context).get(Importance.VERDICT, ())[:_MOST_DOUBTS]
    facts = _facts(headline.facts(context), caveats_that_matter(context))
    top: list[Block] = [*_answers(headline.answers(context)), *map(_doubt, doubts), facts]
    notes = (server_version(context.environment), created_at(context.environment))
    return _page(context, notes, top, RUN_SECTIONS)


def _page_of_observation(context: ObservationContext) -> Page:
    caveats = len(observation_summary.caveats(context))
    notes = (server_version(context.environment), tr("observation, no verdict"))
    top = (_facts(observation_summary.facts(context), caveats),)
    return _page(context, notes, top, OBSERVATION_SECTIONS)


def _page_of_trace(context: TraceContext) -> Page:
    # Reports of runs need none of it.
    from pgassay.report.sections.trace import TRACE_SECTIONS
    from pgassay.report.summaries import trace as trace_summary

    notes = (f"PostgreSQL {context.described.server_version}", tr("trace, no verdict"))
    top = (_facts(trace_summary.facts(context), len(trace_summary.caveats(context))),)
    return _page(context, notes, top, TRACE_SECTIONS)


def _page_of_apart(context: ApartContext) -> Page:
    caveats = apart_summary.caveats(context)
    doubts = caveats[len(apart_summary.forced(context)) :][:_MOST_DOUBTS]
    facts = _facts(apart_summary.facts(context), len(caveats))
    top: list[Block] = [*_answers(apart_summary.answers(context)), *map(_doubt, doubts), facts]
    notes = (tr("made apart, not randomised"),)
    return _page(context, notes, top, APART_SECTIONS)


def _page(
    context: AnyContext,
    notes: Sequence[str],
    top: Sequence[Block],
    sections: Sequence[Section],
) -> Page:
    return Page(
        context.title,
        tr("comparison of runs") if isinstance(context, ApartContext) else context.run_name,
        context.version,
        tuple(filter(None, notes)),
        tuple(top),
        tuple((one, blocks) for one in sections if (blocks := one.blocks(context))),
    )


def _answers(found: Sequence[Answer]) -> Iterator[Answer]:
    return (replace(one, one_of=len(found)) for one in found)


def _doubt(caveat: str) -> Paragraph:
    return Paragraph(said("<b>Could change the verdict:</b> {doubt}", doubt=caveat), "doubt")


def _facts(facts: Sequence[tuple[str, str]], caveats: int) -> Facts:
    """The facts, and how many caveats could change the result."""
    rows: list[tuple[str, Inline]] = list(facts)
    if caveats:
        words = ntr("{n} caveat", "{n} caveats", caveats)
        rows.append((tr("Measurement"), (Span(words, link="#caveats"),)))
    return Facts(rows, "facts")
