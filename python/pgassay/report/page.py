"""A report before it is rendered: its top, and the sections that apply.

Enters: the context of a run, an observation or a trace. Leaves: a `Page`. Never: renders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pgassay.language import decimals, tr
from pgassay.notes import Importance
from pgassay.report.charts.style import arm_styles, side_styles
from pgassay.report.context import ApartContext, ObservationContext, ReportContext, TraceContext
from pgassay.report.document.blocks import Block
from pgassay.report.document.section import Content, Section
from pgassay.report.environment import created_at, server_version
from pgassay.report.sections import RUN_PARTS, RUN_SECTIONS
from pgassay.report.sections.apart import APART_SECTIONS
from pgassay.report.sections.observation import OBSERVATION_SECTIONS
from pgassay.report.sections.trace import TRACE_SECTIONS
from pgassay.report.summaries import apart as apart_summary
from pgassay.report.summaries import headline
from pgassay.report.summaries import observation as observation_summary
from pgassay.report.summaries import trace as trace_summary
from pgassay.report.summaries.caveats import caveats_of, caveats_that_matter
from pgassay.report.summaries.headline import Headline

Form = Literal["html", "md"]
AnyContext = ReportContext | ObservationContext | TraceContext | ApartContext


@dataclass(frozen=True)
class Page:
    """What HTML and Markdown render."""

    title: str
    run_name: str
    version: str
    notes: tuple[str, ...]
    """Beside the run's name: the server's version, when it ran."""
    headlines: tuple[Headline, ...]
    facts: tuple[tuple[str, str], ...]
    caveats: int
    """How many could change the result."""
    doubts: tuple[str, ...]
    """Those that could change the verdict, which stand beneath it."""
    shared: Mapping[str, Any]
    """What the templates of all sections know."""
    sections: tuple[tuple[Section, tuple[Block, ...] | Content], ...]

    @property
    def contents(self) -> tuple[tuple[str, tuple[Section, ...]], ...]:
        """Title of a part → its sections on this page; no titles for an observation or a trace."""
        here = [section for section, _ in self.sections]
        parts = [(title, [one for one in here if one in part]) for title, part in RUN_PARTS]
        found = tuple((title, tuple(own)) for title, own in parts if own)
        return found or (("", tuple(here)),)


def page_of(context: AnyContext, form: Form) -> Page:
    """The page of a run, an observation or a trace, with the sections that this format has."""
    if isinstance(context, ObservationContext):
        return _page_of_observation(context, form)
    if isinstance(context, TraceContext):
        return _page_of_trace(context, form)
    if isinstance(context, ApartContext):
        return _page_of_apart(context, form)
    plan, analysis = context.plan, context.analysis
    return Page(
        title=context.title,
        run_name=context.run_name,
        version=context.version,
        notes=(server_version(context.environment), created_at(context.environment)),
        headlines=headline.headlines(context),
        facts=headline.facts(context),
        caveats=caveats_that_matter(context),
        doubts=caveats_of(context).get(Importance.VERDICT, ()),
        shared={
            "context": context,
            "plan": plan,
            "analysis": analysis,
            "arms": tuple(arm_styles(plan.arms).values()),
            "margin": decimals(100 * analysis.smallest_effect, "g"),
        },
        sections=tuple(_applying(RUN_SECTIONS, context, form)),
    )


def _page_of_observation(context: ObservationContext, form: Form) -> Page:
    return Page(
        title=context.title,
        run_name=context.run_name,
        version=context.version,
        notes=(server_version(context.environment), tr("observation, no verdict")),
        headlines=(),
        facts=observation_summary.facts(context),
        caveats=len(observation_summary.caveats(context)),
        doubts=(),
        shared={"context": context},
        sections=tuple(_applying(OBSERVATION_SECTIONS, context, form)),
    )


def _page_of_trace(context: TraceContext, form: Form) -> Page:
    return Page(
        title=context.title,
        run_name=context.run_name,
        version=context.version,
        notes=(f"PostgreSQL {context.described['server_version']}", tr("trace, no verdict")),
        headlines=(),
        facts=trace_summary.facts(context),
        doubts=(),
        caveats=len(trace_summary.caveats(context)),
        shared={"context": context},
        sections=tuple(_applying(TRACE_SECTIONS, context, form)),
    )


def _page_of_apart(context: ApartContext, form: Form) -> Page:
    return Page(
        title=context.title,
        run_name=tr("comparison of runs"),
        version=context.version,
        notes=(tr("made apart, not randomised"),),
        headlines=apart_summary.headlines(context),
        facts=apart_summary.facts(context),
        doubts=apart_summary.caveats(context)[len(apart_summary.forced(context)) :],
        caveats=len(apart_summary.caveats(context)),
        shared={
            "context": context,
            "sides": tuple(side_styles(side.name for side in context.analysis.sides).values()),
        },
        sections=tuple(_applying(APART_SECTIONS, context, form)),
    )


def _applying(
    sections: Sequence[Section], context: Any, form: Form
) -> Iterator[tuple[Section, tuple[Block, ...] | Content]]:
    for section in sections:
        content = section.shown(context)
        if content is not None and (not isinstance(content, Mapping) or section.is_in(form)):
            yield section, content
