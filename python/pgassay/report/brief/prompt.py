"""A request to a language model, with the facts of a run for it to answer from.

Enters: the context. Leaves: plain text within a limit: what to write, what the data cannot say, and
the parts of the brief without names of machines and constants of statements. Never: asks for more
than the facts below it carry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pgassay.language import tr
from pgassay.report.brief.anonymous import anonymous_lines, names_in
from pgassay.report.brief.fitting import fit, texts
from pgassay.report.brief.render import parts_of, where
from pgassay.report.context import (
    BriefContext,
    HistoryContext,
    IncidentsContext,
    ObservationContext,
    PeriodsContext,
    ReportContext,
    TraceContext,
)

_LEFT_OUT = ("repeat",)
"""The command and the file name folders and servers, and a model needs neither."""


def render_prompt(context: BriefContext) -> str:
    """Returns the request and the facts as one text."""
    what, parts = parts_of(context)
    names = tuple(_names(context))
    shown = {
        name: anonymous_lines(part, names) for name, part in parts.items() if name not in _LEFT_OUT
    }
    asked = texts()["prompt"]
    head = "\n".join(
        (
            asked["role"],
            "",
            asked["write"],
            *_numbered(asked[_kind(context)]),
            "",
            asked["rules_title"],
            *(f"- {rule}" for rule in (*asked["rules"], *asked[f"rules_{_rules(context)}"])),
            "",
            tr("THE FACTS: {what}{where}", what=what, where=where(context)),
        )
    )
    return fit(head, shown, texts()["prompt_limit"])


def _numbered(asked: Iterable[str]) -> Iterator[str]:
    return (f"{number}. {text}" for number, text in enumerate(asked, start=1))


def _kind(context: BriefContext) -> str:
    if isinstance(context, TraceContext):
        return "trace"
    if isinstance(context, PeriodsContext):
        return "periods"
    if isinstance(context, IncidentsContext):
        return "incidents"
    if isinstance(context, HistoryContext):
        return "history"
    if isinstance(context, ObservationContext):
        return "observation"
    if not context.plan.factors:
        return "single"
    return "described" if context.plan.describes else "run"


def _rules(context: BriefContext) -> str:
    if isinstance(context, HistoryContext):
        return "history"
    return "run" if isinstance(context, ReportContext) and context.plan.factors else "recorded"


def _names(context: BriefContext) -> Iterator[str]:
    """The servers that the run was of, and the directories that it used."""
    if isinstance(context, TraceContext | ObservationContext | IncidentsContext):
        yield context.described.server
    if isinstance(context, PeriodsContext):
        yield from (one.label for one in context.analysis.periods)
    if isinstance(context, HistoryContext):
        for run in context.analysis.runs:
            yield from run.environment.servers
            yield from names_in(run.environment.given)
    elif not isinstance(context, TraceContext):
        yield from context.environment.servers
        yield from names_in(context.environment.given)
