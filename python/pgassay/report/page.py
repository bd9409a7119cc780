"""A report before it is rendered: its top, and the sections that apply.

Enters: the context of a run, an observation or a trace. Leaves: a `Page`. Never: renders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pgassay.findings.apart.verdicts import caveats as caveats_apart
from pgassay.language import ntr, tr
from pgassay.notes import Importance, Note
from pgassay.report.context import (
    AnyContext,
    ApartContext,
    ObservationContext,
    ReportContext,
    TraceContext,
)
from pgassay.report.document.blocks import Answer, Block, Facts, Paragraph
from pgassay.report.document.section import Filled, Section
from pgassay.report.document.text import Inline, Span, said
from pgassay.report.environment import created_at, server_version
from pgassay.report.sections import RUN_PARTS, RUN_SECTIONS
from pgassay.report.sections.apart import APART_SECTIONS
from pgassay.report.sections.observation import OBSERVATION_SECTIONS
from pgassay.report.summaries import apart as apart_summary
from pgassay.report.summaries import headline
from pgassay.report.summaries import observation as observation_summary
from pgassay.report.summaries.caveats import caveats_of, caveats_that_matter

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
        case ObservationContext():
            return OBSERVATION_SECTIONS
        case ApartContext():
            return APART_SECTIONS
        case TraceContext():
            # Reports of runs need none of it.
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


def top_of(context: AnyContext) -> tuple[Block, ...]:
    """The answers, what could change them, and facts to weigh them by."""
    match context:
        case ReportContext():
            doubts = caveats_of(context).get(Importance.VERDICT, ())
            facts = _facts(headline.facts(context), caveats_that_matter(context))
            return (*_answers(headline.answers(context)), *_doubts(doubts), facts)
        case ObservationContext():
            return (_facts(observation_summary.facts(context), len(recorded_caveats(context))),)
        case TraceContext():
            from pgassay.report.summaries import trace as trace_summary

            return (_facts(trace_summary.facts(context), len(recorded_caveats(context))),)
        case ApartContext():
            found = caveats_apart(context.analysis)
            facts = _facts(apart_summary.facts(context), len(found))
            sure = len(context.analysis.forced)
            return (*_answers(apart_summary.answers(context)), *_doubts(found[sure:]), facts)


def recorded_caveats(context: AnyContext) -> Sequence[str]:
    """What is missing or doubtful in a recording that has no verdict."""
    match context:
        case ObservationContext():
            return observation_summary.caveats(context)
        case TraceContext():
            from pgassay.report.summaries import trace as trace_summary

            return trace_summary.caveats(context)
        case _:
            return ()


def _answers(found: Sequence[Answer]) -> Iterator[Answer]:
    return (replace(one, one_of=len(found)) for one in found)


def _doubts(caveats: Sequence[Note | str]) -> Iterator[Paragraph]:
    for caveat in caveats[:_MOST_DOUBTS]:
        yield Paragraph(said("<b>Could change the verdict:</b> {doubt}", doubt=caveat), "doubt")


def _facts(facts: Sequence[tuple[str, str]], caveats: int) -> Facts:
    """The facts, and how many caveats could change the result."""
    rows: list[tuple[str, Inline]] = list(facts)
    if caveats:
        words = ntr("{n} caveat", "{n} caveats", caveats)
        rows.append((tr("Measurement"), (Span(words, link="#caveats"),)))
    return Facts(rows, "facts")
