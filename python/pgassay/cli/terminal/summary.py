"""What a report says, on a terminal: its top and the sections that a DBA needs first.

Enters: the report context of a run, an observation, a trace or a comparison. Leaves: blocks, and
lines on stdout. Never: computes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pgassay.cli.terminal.blocks import print_blocks
from pgassay.cli.terminal.console import out, plain
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
from pgassay.report.document.blocks import Answer, Block, Facts, Heading, Items
from pgassay.report.document.section import Section, section
from pgassay.report.environment import not_measured
from pgassay.report.sections.answer import diagnosis, effect, factors, gates, why
from pgassay.report.sections.queries import verdicts
from pgassay.report.sections.record import method
from pgassay.report.summaries.headline import design_facts, ending_blocks, limit_blocks
from pgassay.report.summaries.top import top_of
from pgassay.samples.forms.environment import EnvironmentFile

_OF_A_RUN = (
    effect.calibration,
    effect.effect,
    section("queries/most", "The most important queries")(verdicts.most_important),
    factors.interactions,
    factors.trends,
    why.why,
    diagnosis.diagnosis,
    method.caveats,
    gates.gates,
)
"""Shown on a terminal, in this order; to import all sections takes longer than to show these."""


def print_summary(context: AnyContext, report: Path | str | None) -> None:
    """Prints what a DBA needs before opening the report, and where that is."""
    print_summary_of(summary_blocks(context), report)


def print_summary_of(blocks: Iterable[Block | None], report: Path | str | None) -> None:
    """Prints the blocks of a summary, and where the report is."""
    out.print()
    print_blocks(blocks)
    if report is not None:
        out.print()
        out.print(f"Report: {plain(str(report))}")


def print_ending(context: ReportContext, report: Path | str, run: Path | str) -> None:
    """Prints how a run ended, where its report is, and what shows the rest."""
    out.print()
    print_blocks(ending_blocks(context))
    if context.gates:
        print_blocks(gates.gates.blocks(context))
    rest = shlex.join(("pgassay", "show", str(run)))
    out.print(f"Report: {plain(str(report))}; the rest: {plain(rest)}")


def summary_blocks(context: AnyContext) -> Iterator[Block | None]:
    """Yields the ending of a run, or the top of another report without the doubts, which its
    caveats repeat; then sections."""
    yield Heading(context.title)
    if isinstance(context, ReportContext):
        yield from ending_blocks(context)
        yield from limit_blocks(context)
        yield Facts(design_facts(context))
    else:
        yield from (one for one in top_of(context) if isinstance(one, Answer | Facts))
    if isinstance(context, ApartContext):
        from pgassay.findings.apart.verdicts import caveats  # runs need none of it

        yield Items(caveats(context.analysis)[len(context.analysis.forced) :])
    for one in _sections(context):
        if blocks := one.blocks(context):
            yield Heading(one.title)
            yield from blocks
    if isinstance(context, ReportContext | ObservationContext):
        yield _not_measured(context.environment)


def _sections(context: AnyContext) -> Sequence[Section]:
    match context:
        case ReportContext():
            return _OF_A_RUN
        # Runs need none of these.
        case ObservationContext():
            from pgassay.report.sections.observation import method as of_observation
            from pgassay.report.sections.observation import recognised, waits

            return recognised.diagnosis, waits.waits, of_observation.caveats
        case HistoryContext():
            from pgassay.report.sections.history import changes
            from pgassay.report.sections.history import record as of_history

            return changes.changes, of_history.limits, gates.gates
        case PeriodsContext():
            from pgassay.report.sections.periods import changes as of_periods
            from pgassay.report.sections.periods import record as periods_record

            return of_periods.most, of_periods.settings, periods_record.limits
        case IncidentsContext():
            from pgassay.report.sections.incidents import found, trees

            return found.incidents, trees.lock_trees, found.limits
        case TraceContext():
            from pgassay.report.sections.trace import figures
            from pgassay.report.sections.trace import method as of_trace

            return figures.points, figures.around, of_trace.caveats
        case ApartContext():
            from pgassay.report.sections.apart import curves, differences, record

            loads = section("apart/loads", "From load to load")(curves.each_load)
            return differences.verdicts, loads, record.conditions, gates.gates


def _not_measured(environment: EnvironmentFile) -> Facts:
    """What this server's settings and extensions do not let us measure, by name."""
    names = ", ".join(name for name, _ in not_measured(environment))
    how = "`pgassay doctor` says how to enable each"
    return Facts([("not measured", f"{names}; {how}")] if names else [])
