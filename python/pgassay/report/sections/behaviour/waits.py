"""Where a transaction's time goes: wait classes, wait events, statements and scenarios of each arm.

Enters: the context. Leaves: charts and tables. Never: samples or classifies waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.analysis.compare.model import ArmFigure
from pgassay.analysis.reading.plain_text import one_line
from pgassay.analysis.sampled.model import WaitEvent
from pgassay.language import Message, clauses, decimals, ntr, tr
from pgassay.quantities import spaced
from pgassay.report.charts.over_time.sessions import pareto_chart, sessions_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.charts.waits import waits_chart
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import (
    Block,
    Chart,
    Fold,
    Heading,
    PageOnly,
    Paragraph,
    note,
)
from pgassay.report.document.captions import arm_key
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.document.text import texts_of
from pgassay.report.sections.behaviour.ranked_sessions import (
    arm_means,
    ranked_sessions,
)
from pgassay.report.sections.behaviour.statements import statement_names
from pgassay.report.summaries.compared import compared
from pgassay.report.tables.by_arm import arm_columns, arm_table
from pgassay.report.tables.cells import ABSENT
from pgassay.report.tables.infrastructure import TONES, changed
from pgassay.report.tables.time_parts import class_table

sentence = texts_of(__name__)

_MOST_EVENTS = 8
_MOST_OPEN = 10
_WIDTH = 40
"""Characters of a statement's text."""
_FEWEST_SESSIONS = 0.005
"""Average active sessions below which an event would be shown as zero."""


@section("behaviour/waits", "Where a transaction’s time goes")
def waits(context: ReportContext) -> Blocks:
    """Shows wait classes and events of each arm; says so where no busy session was sampled, and
    yields nothing where arms alternate, of which samples do not know."""
    plan, styles = context.plan, arm_styles(context.plan.arms)
    chart = waits_chart(context.analysis, styles)
    if chart is None:
        if not plan.alternates:
            yield Paragraph(
                tr("No busy session was sampled, so there is nothing to report about waits.")
            )
        return
    yield compared(context, "report/sections/waits", "waits")
    caption = (
        sentence("what_an_average_transaction")
        if plan.has_rate
        else tr("What an average transaction spent its time on. The parts sum to its mean latency.")
    )
    label = tr("Milliseconds per transaction by wait class and arm")
    yield Chart("waits", chart, label, caption, has_table=True)
    yield PageOnly([*_sessions(context)])
    yield class_table(context)
    yield from _events(context)
    series = context.series
    sampled = [(trial.arm, trial.sampled_waits) for trial in series if trial.sampled_waits]
    if by_extension := event_table(context, tr("Average waiting sessions"), sampled):
        counted = sentence("counted_by_the_extension")
        yield Fold(tr("The same by pg_wait_sampling"), [by_extension, note(counted)])
    yield note(
        tr("The parts sum to the mean response time of a transaction.")
        if plan.has_rate
        else tr("The parts sum to the mean latency of a transaction."),
        sentence("sampled_from_pgstatactivity_sessions"),
    )


def _events(context: ReportContext) -> Iterator[Block]:
    """Compares the wait events of the arms: those of most sessions, the others folded."""
    events = context.analysis.explanation.wait_events
    if not events:
        return
    yield Heading(tr("Wait events: average sessions (samples), and the statements that met them"))
    yield wait_event_table(context, events[:_MOST_OPEN])
    if more := events[_MOST_OPEN:]:
        summary = ntr("{n} rarer wait event", "{n} rarer wait events", len(more))
        yield Fold(summary, [wait_event_table(context, more)])
    yield note(
        sentence("samples_are"), len(context.plan.arms) > 1 and sentence("change_of_events_is")
    )


def wait_event_table(context: ReportContext, events: Sequence[WaitEvent]) -> Table:
    """Makes a table of sessions by wait event and arm, their change, and who met the event."""
    names = {id_: one_line(name, _WIDTH) for id_, name in statement_names(context).items()}
    rows: list[tuple[str | Cell, ...]] = [
        (
            Cell(one.event, "code"),
            *(_sessions_of(one, figure) for figure in one.figures),
            clauses(names.get(id_, f"queryid {id_}") for id_, _ in one.statements) or ABSENT,
        )
        for one in events
    ]
    columns = (
        Column(Message("Wait event"), "heading"),
        *arm_columns(context),
        Column(Message("Statements that met it"), "text"),
    )
    return table(columns, rows)


def _sessions_of(one: WaitEvent, figure: ArmFigure) -> Cell:
    samples = spaced(one.samples.get(figure.arm, 0), 0)
    text = f"{decimals(figure.mean or 0.0, '.3f')} ({samples})"
    tone = TONES[figure.change("neither")]
    return Cell(text, tone, note=changed(figure), value=figure.mean)


def _sessions(context: ReportContext) -> Iterator[Block]:
    """Charts active sessions over time, and the largest statements and scenarios."""
    styles = arm_styles(context.plan.arms)
    over_time = sessions_chart(context.series, context.plan, styles)
    if over_time and not context.plan.alternates:
        caption = sentence("how_many_sessions_were")
        label = tr("Average active sessions by wait class over time, an arm in each panel")
        yield Heading(tr("Active sessions over time"))
        yield Chart("sessions", over_time, label, caption)
    if pareto := pareto_chart(ranked_sessions(context), styles):
        caption = sentence("the_largest_at_least")
        label = tr("Average active sessions by statement and scenario")
        yield Heading(tr("What most of them were busy with"))
        yield arm_key(context)
        yield Chart("pareto", pareto, label, caption, has_table=True)


def event_table(
    context: ReportContext, title: str, trials: Sequence[tuple[str, Mapping[str, float]]]
) -> Table:
    """Makes a table of the largest wait events of any arm, averaged over its trials."""
    ranked = sorted(
        arm_means(context, trials).items(), key=lambda item: (-max(item[1].values()), item[0])
    )
    rows = [
        (Cell(name, "code"), [Cell(decimals(n, ".2f"), value=n) for n in values.values()])
        for name, values in ranked[:_MOST_EVENTS]
        if max(values.values()) >= _FEWEST_SESSIONS
    ]
    return arm_table(context, title, rows)
