"""Incidents on the time axis and in a list.

Enters: the context of an observation or of its incidents. Leaves: a chart, a table, sentences.
Never: names a cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgassay.analysis.observation.incidents.model import Incident
from pgassay.analysis.observation.incidents.statements import STATEMENT
from pgassay.analysis.reading.plain_text import one_line
from pgassay.findings.incidents.signs import caveats, kind_of, sign_of, test_of
from pgassay.language import tr
from pgassay.quantities import clock, spaced
from pgassay.report.charts.over_time.incidents import incidents_chart
from pgassay.report.context import IncidentsContext, ObservationContext
from pgassay.report.document.blocks import Chart, Items, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, moment, written

sentence = texts_of(__name__)
_WIDTH = 100
"""Characters of a statement's text."""
Context = IncidentsContext | ObservationContext


@section("incidents/over_time", "Over time")
def over_time(context: Context) -> Blocks:
    """Draws throughput and busy sessions with the incidents; the report of an observation without
    any has both already."""
    if context.incidents is None:
        return
    is_drawn_already = isinstance(context, ObservationContext) and not context.incidents.found
    if not is_drawn_already and (chart := incidents_chart(context.incidents)):
        label = tr("Throughput and busy sessions over time, with incidents")
        yield Chart("incidents", chart, label, sentence("shaded"))


@section("incidents/found", "Incidents")
def incidents(context: Context) -> Blocks:
    """Lists the incidents in order of time, each with its first signs and how to test them."""
    if context.incidents is None:
        return
    found = [
        {"number": number, "one": one}
        for number, one in enumerate(context.incidents.found, start=1)
    ]
    if not found:
        yield Paragraph(sentence("none"), "observed")
        return

    def statement(entry: Mapping[str, Any]) -> Cell:
        busy = entry["one"].statements
        return statement_cell(context, busy[0].queryid if busy else "")

    def changed(entry: Mapping[str, Any]) -> Cell:
        sign = entry["one"]
        return statement_cell(context, sign.objects[0] if sign.kind == STATEMENT else "")

    columns = (
        column("number", "No.", lambda entry: str(entry["number"]), "heading"),
        written("one.start_ns", "Began (UTC)", moment, "text"),
        written("one.seconds", "Lasted", clock),
        column("one.kind", "First sign", lambda entry: str(kind_of(entry["one"])), "text"),
        column("one.tps", "Transactions/s (usually)", lambda entry: _both(entry["one"], "tps", 0)),
        column(
            "one.sessions",
            "Busy sessions (usually)",
            lambda entry: _both(entry["one"], "sessions", 1),
        ),
        column(
            "one.lost_transactions",
            "Transactions lost",
            lambda entry: spaced(entry["one"].lost_transactions, 0),
        ),
        column(
            "one.extra_session_s",
            "Session-seconds more",
            lambda entry: spaced(entry["one"].extra_session_s, 0),
        ),
        column("", "Busiest statement", statement, "text"),
    )
    yield view(columns, found, tr("Incidents"))
    yield note(sentence("lost"))
    signs = [
        {"number": number, "one": sign}
        for number, incident in enumerate(context.incidents.found, start=1)
        for sign in incident.signs
    ]
    has_statements = any(
        sign.kind == STATEMENT for one in context.incidents.found for sign in one.signs
    )
    yield view(
        (
            column("number", "No.", lambda entry: str(entry["number"]), "heading", merges=True),
            column(
                "one.start_ns", "Began (UTC)", lambda entry: moment(entry["one"].start_ns), "text"
            ),
            column("", "Sign", lambda entry: str(sign_of(entry["one"])), "text"),
            column("statement", "Statement", changed, "text"),
        ),
        signs,
        tr("Signs in the order in which they began"),
    ).only_if(statement=has_statements)
    kinds = {one.kind: one for one in context.incidents.found}
    yield view(
        (
            column("kind", "First sign", lambda one: str(kind_of(one)), "heading"),
            column("", "What would test it", lambda one: str(test_of(one)), "text"),
        ),
        kinds.values(),
        tr("What would test the first sign"),
    )


def statement_cell(context: Context, queryid: str) -> Cell:
    """Returns the text of a statement on one line, its id where the text is not known."""
    text = one_line(context.texts.get(queryid, ""), _WIDTH) or queryid
    return Cell(text, style="code") if text else Cell(str(ABSENT))


def _both(one: Incident, name: str, digits: int) -> str:
    """A mean while it lasted, and the usual one in brackets."""
    usual = getattr(one, f"usual_{name}")
    return f"{spaced(getattr(one, name), digits)} ({spaced(usual, digits)})"


@section("incidents/limits", "What this can and cannot show")
def limits(context: Context) -> Blocks:
    """Shows how sure the incidents are."""
    if context.incidents is not None:
        yield Items(tuple(caveats(context.incidents)), "method", "caveats")
