"""What sessions were busy with: wait classes and wait events.

Enters: the context. Leaves: a chart and two tables. Never: classifies a wait itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgassay.analysis.observation.model import ObservationSummary
from pgassay.analysis.reading.metrics import WAIT_CLASSES, class_of
from pgassay.analysis.waits.wait_profile import UNKNOWN
from pgassay.language import Message, decimals, tr
from pgassay.quantities import spaced
from pgassay.report.charts.over_time.observed import sessions_chart
from pgassay.report.charts.style import CLASS_COLOURS, GREY
from pgassay.report.context import ObservationContext
from pgassay.report.document.blocks import Chart, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, numbers, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import valued

sentence = texts_of(__name__)

_MOST_EVENTS = 15
_COLUMNS = (
    *numbers("Average active sessions", "Per transaction", "Share"),
    Column(Message("Waiting sessions by pg_wait_sampling"), name="by_extension"),
)


@section("observation/waits", "What sessions were busy with")
def waits(context: ObservationContext) -> Blocks:
    """Shows active sessions by wait class and event; says so where none was sampled."""
    observed = context.observed
    classes = class_table(observed)
    if not classes:
        yield Paragraph(tr("No busy session was sampled."))
        return
    if chart := sessions_chart(observed):
        caption = sentence("how_many_sessions_were")
        yield Chart("sessions", chart, tr("Average active sessions by wait class"), caption)
    yield classes
    yield event_table(observed)
    yield note(
        sentence("sampled_from_pgstatactivity_client"),
        bool(observed.sampled_waits) and sentence("the_extension_pgwaitsampling_samples"),
    )


def class_table(observed: ObservationSummary) -> Table:
    """Makes a table of the wait classes in which sessions were sampled, the largest first."""
    titles = {wait_class.name: wait_class.title for wait_class in WAIT_CLASSES}
    ours, theirs = observed.classes, _by_class(observed.sampled_waits)
    rows = [
        _row(
            Cell(titles[name], swatch=_colour(name)),
            ours.get(name, 0.0),
            theirs.get(name),
            observed,
        )
        for name in sorted(titles, key=lambda name: -ours.get(name, 0.0))
        if ours.get(name, 0.0) > 0 or theirs.get(name, 0.0) > 0
    ]
    return _table(tr("Wait class"), rows, observed)


def event_table(observed: ObservationSummary) -> Table:
    """Makes a table of the largest wait events, in our samples or in those of pg_wait_sampling."""
    ours, theirs = observed.events, observed.sampled_waits
    ranked = sorted(
        {**theirs, **ours}, key=lambda event: -max(ours.get(event, 0.0), theirs.get(event, 0.0))
    )
    rows = [
        _row(
            Cell(event, "code", _colour(_class_of(event))),
            ours.get(event, 0.0),
            None if event in UNKNOWN else theirs.get(event, 0.0),
            observed,
        )
        for event in ranked[:_MOST_EVENTS]
    ]
    return _table(tr("Wait event"), rows, observed)


def _table(title: str, rows: list[tuple[str | Cell, ...]], observed: ObservationSummary) -> Table:
    found = table((Column(title, "heading"), *_COLUMNS), rows)
    return found.only_if(by_extension=observed.sampled_waits)


def _row(
    name: Cell, busy: float, by_extension: float | None, observed: ObservationSummary
) -> tuple[str | Cell, ...]:
    each = observed.ms_per_transaction(busy)
    share = 100 * busy / max(observed.active_sessions, 1e-09)
    return (
        name,
        valued(busy, _sessions),
        valued(each, lambda ms: tr("{value} ms", value=spaced(ms, 3))),
        valued(share, lambda pct: f"{decimals(pct, '.1f')} %"),
        valued(by_extension, _sessions),
    )


def _sessions(value: float) -> str:
    return decimals(value, ".3f")


def _by_class(events: Mapping[str, float]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for event, waiting in events.items():
        of_class = _class_of(event)
        found[of_class] = found.get(of_class, 0.0) + waiting
    return found


def _class_of(event: str) -> str:
    kind, _, name = event.partition(":")
    return "cpu" if event == "CPU" else class_of(kind, name)


def _colour(wait_class: str) -> str:
    return CLASS_COLOURS.get(wait_class, GREY)
