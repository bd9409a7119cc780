"""The top of a page: the answers, what could change them, and facts to weigh them by.

Enters: the context of a run, an observation, a trace or a comparison. Leaves: blocks.
Never: decides a verdict, or imports what another kind of context takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pgassay.language import ntr, tr
from pgassay.notes import Importance, Note
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
from pgassay.report.document.blocks import Answer, Block, Facts, Paragraph
from pgassay.report.document.text import Inline, Span, said
from pgassay.report.summaries import headline
from pgassay.report.summaries.caveats import caveats_of, caveats_that_matter

_MOST_DOUBTS = 2
"""Caveats beneath the verdict; the section of caveats has all."""


def top_of(context: AnyContext) -> tuple[Block, ...]:
    """The answers, what could change them, and facts to weigh them by."""
    match context:
        case ReportContext():
            doubts = caveats_of(context).get(Importance.VERDICT, ())
            facts = _facts(headline.facts(context), caveats_that_matter(context))
            return (*_answers(headline.answers(context)), *_doubts(doubts), facts)
        # Reports of runs need none of these.
        case ObservationContext():
            from pgassay.report.summaries import observation as observation_summary

            return (_facts(observation_summary.facts(context), len(recorded_caveats(context))),)
        case TraceContext():
            from pgassay.report.summaries import trace as trace_summary

            return (_facts(trace_summary.facts(context), len(recorded_caveats(context))),)
        case HistoryContext():
            from pgassay.report.summaries import history as history_summary

            facts = _facts(history_summary.facts(context), 0)
            return (*_answers(history_summary.answers(context)), facts)
        case PeriodsContext():
            from pgassay.report.summaries import periods as periods_summary

            facts = _facts(periods_summary.facts(context), 0)
            return (*_answers(periods_summary.answers(context)), facts)
        case IncidentsContext():
            from pgassay.report.summaries import incidents as incidents_summary

            return (_facts(incidents_summary.facts(context), 0),)
        case ApartContext():
            from pgassay.findings.apart.verdicts import caveats as caveats_apart
            from pgassay.report.summaries import apart as apart_summary

            found = caveats_apart(context.analysis)
            facts = _facts(apart_summary.facts(context), len(found))
            sure = len(context.analysis.forced)
            return (*_answers(apart_summary.answers(context)), *_doubts(found[sure:]), facts)


def recorded_caveats(context: AnyContext) -> Sequence[str]:
    """What is missing or doubtful in a recording that has no verdict."""
    match context:
        case ObservationContext():
            from pgassay.report.summaries import observation as observation_summary

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
