"""What an observation shows signs of, and its USE and LTES tables.

Enters: the context. Leaves: findings, the surest first; a table for each method. Never: judges a
figure by a threshold of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from pgassay.analysis.methods.model import MethodName, ObservedCell
from pgassay.language import Message, colon, listed, tr
from pgassay.report.context import ObservationContext
from pgassay.report.document.blocks import Heading, note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Cell, Column, Table, row_of
from pgassay.report.document.text import texts_of
from pgassay.report.sections.answer.diagnosis import shown
from pgassay.report.sections.behaviour.methods import KINDS, not_measured, quantity_of

sentence = texts_of(__name__)


@section("observation/diagnosis", "Diagnosis")
def diagnosis(context: ObservationContext) -> Blocks:
    """Shows the mechanisms that the observation has signs of; left out where there are none."""
    if context.findings:
        yield from map(shown, context.findings)
        yield note(sentence.marked("nothing_was_varied"))


@section("observation/methods", "Service and resources: LTES, USE")
def methods(context: ObservationContext) -> Blocks:
    """Shows a table of each method, without cells that are zero in every window."""
    host = {one.name for one in context.observed.infrastructure}
    measured = [one for one in context.methods if one.values and one.cell.figure not in host]
    if not measured:
        return
    yield summed_up("report/sections/figures", n=len(measured))
    yield Heading(tr("LTES: latency, traffic, errors and saturation of the service"))
    yield method_table(measured, "ltes")
    yield Heading(tr("USE: utilisation, saturation and errors of each resource"))
    yield method_table(measured, "use")
    if host:
        yield note(sentence("disks_stand_in"))
    yield from not_measured(one.cell for one in context.methods)
    yield note(sentence("means_of_windows"))


def method_table(cells: Iterable[ObservedCell], method: MethodName) -> Table:
    """Makes a table of the cells of a method that are not zero in every window."""
    found = [one for one in cells if one.cell.method == method and any(one.values)]
    columns = (
        Column(Message("Of"), "group", name="of"),
        Column(Message("Kind"), "text", merges=True),
        Column(Message("Measured"), "heading"),
        Column(Message("Mean"), name="mean"),
        Column(Message("Least"), name="least"),
        Column(Message("Most"), name="most"),
    )
    rows = tuple(
        row_of(
            (
                str(one.cell.of),
                tr(one.cell.kind),
                str(one.cell.title),
                *(
                    Cell(quantity_of(one.cell, value), value=value)
                    for value in (one.mean, min(one.values), max(one.values))
                ),
            )
        )
        for one in found
    )
    label = f"{method.upper()}{colon()}{listed(map(tr, KINDS[method]))}"
    return Table(columns, rows, label=label).only_if(of=any(one.cell.of for one in found))
