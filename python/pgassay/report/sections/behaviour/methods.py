"""The USE, RED and LTES tables: a row for each cell, a column for each arm.

Enters: the context. Leaves: one table for each method. Never: judges a figure by a threshold, or
shows a difference that rounding hides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pgassay.analysis.compare.model import ArmFigure
from pgassay.analysis.methods.model import MethodCell, MethodName
from pgassay.analysis.reading.metrics import Metric
from pgassay.findings.wording import quantity
from pgassay.language import Message, colon, listed, tr
from pgassay.quantities import size
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Heading, Items, Paragraph, note
from pgassay.report.document.section import Blocks, Summary, differing, section
from pgassay.report.document.table import Cell, Column, Row, Table, row_of
from pgassay.report.document.text import texts_of
from pgassay.report.tables.by_arm import arm_columns, zeros
from pgassay.report.tables.cells import ABSENT, with_interval

sentence = texts_of(__name__)
KINDS: dict[MethodName, tuple[str, ...]] = {
    "use": tuple(map(Message, ("utilisation", "saturation", "errors"))),
    "red": tuple(map(Message, ("rate", "errors", "duration"))),
    "ltes": tuple(map(Message, ("latency", "traffic", "errors", "saturation"))),
}
"""What the cells of a method are of."""
_TONES = {"better": "better", "worse": "worse", "different": "same"}


@section("behaviour/methods", "Service, scenarios and resources: LTES, RED, USE")
def methods(context: ReportContext) -> Blocks:
    """Shows a table of each method; yields nothing where arms alternate within trials, or of a
    query set, whose queries are its service."""
    if not context.analysis.explanation.methods or context.plan.queries is not None:
        return
    yield _counted(context)
    yield Heading(tr("LTES: latency, traffic, errors and saturation of the service"))
    service, zero_of_service = method_table(context, "ltes").without_zeros()
    yield service
    yield zeros(zero_of_service, at=1)
    if context.plan.factors:
        yield note(sentence("these_means_are_arithmetic"))
    if scenarios := _scenarios(context):
        yield Heading(tr("RED: rate, errors and duration of each scenario"))
        yield scenarios
    yield Heading(tr("USE: utilisation, saturation and errors of each resource"))
    yield from _resources(context)


@section("behaviour/resources", "Resources: USE")
def resources(context: ReportContext) -> Blocks:
    """Shows the resources alone, of a query set."""
    if context.analysis.explanation.methods and context.plan.queries is not None:
        yield _counted(context)
        yield from _resources(context)


def _counted(context: ReportContext) -> Summary:
    shown = [one for one in _here(context) if one.figures]
    differ = sum(any(figure.clear for figure in one.figures) for one in shown)
    return differing(
        "report/sections/figures", len(shown), differ if len(context.plan.arms) > 1 else None
    )


def _resources(context: ReportContext) -> Blocks:
    found, zero = _table(context, "use", _here(context)).without_zeros()
    yield found
    yield zeros(zero, at=2, of=0)
    if _of_the_host(context):
        yield note(sentence("disks_stand_in"))
    yield from not_measured(context.analysis.explanation.methods)
    yield _what_they_are(context)


def _here(context: ReportContext) -> list[MethodCell]:
    """All cells but those of other sections."""
    left_out = _of_the_host(context)
    return [one for one in context.analysis.explanation.methods if one not in left_out]


def _of_the_host(context: ReportContext) -> list[MethodCell]:
    """The cells that the section "Infrastructure" shows as figures of the host."""
    host = {one.name for one in context.analysis.explanation.infrastructure}
    return [one for one in context.analysis.explanation.methods if one.figure in host]


def _scenarios(context: ReportContext) -> Table:
    """RED of several scenarios, without durations that the section of quantiles has: all but those
    that differ clearly in any scenario; a single scenario is the service, which LTES shows."""
    cells = [one for one in context.analysis.explanation.methods if one.method == "red"]
    if len({one.of for one in cells}) < 2:
        return Table((), ())
    has_quantiles = bool(context.analysis.behaviour.latency_curves)
    differ = {one.title for one in cells if any(figure.clear for figure in one.figures)}
    kept = [
        one for one in cells if one.kind != "duration" or not has_quantiles or one.title in differ
    ]
    return _table(context, "red", kept).without_zeros()[0]


def _what_they_are(context: ReportContext) -> Paragraph:
    compared = any(f.clear for one in context.analysis.explanation.methods for f in one.figures)
    return note(
        tr("Means of the trials."),
        sentence("a_second_line_is")
        if compared
        else len(context.plan.arms) > 1 and tr("No figure differs clearly from the first column."),
        sentence("no_figure_is_judged"),
    )


def method_table(context: ReportContext, method: MethodName) -> Table:
    """Makes a table of all cells of a method that were measured."""
    return _table(context, method, context.analysis.explanation.methods)


def _table(context: ReportContext, method: MethodName, every: Iterable[MethodCell]) -> Table:
    cells = [one for one in every if one.method == method and one.figures]
    columns = (
        Column(Message("Of"), "group", name="of"),
        Column(Message("Kind"), "text", merges=True),
        Column(Message("Measured"), "heading"),
        *arm_columns(context),
    )
    rows = tuple(_row(context, one) for one in cells)
    label = f"{method.upper()}{colon()}{listed(map(tr, KINDS[method]))}"
    return Table(columns, rows, label=label).only_if(of=any(one.of for one in cells))


def not_measured(cells: Iterable[MethodCell]) -> Iterator[Fold]:
    """Lists reasons, each with the cells that have no figure for it."""
    found: dict[str, list[str]] = {}
    for one in cells:
        if one.not_measured:
            name = f"{one.title} ({one.of})" if one.of else str(one.title)
            found.setdefault(one.not_measured, []).append(name)
    if found:
        texts = [f"{why}{colon()}{listed(dict.fromkeys(names))}" for why, names in found.items()]
        yield Fold(tr("Not measured, and why"), [Items(texts)], in_text=True)


def _row(context: ReportContext, one: MethodCell) -> Row:
    by_arm = {figure.arm: figure for figure in one.figures}
    shown = [_cell(one, by_arm[arm.id]) for arm in context.analysis.answer.arms]
    return row_of((str(one.of), tr(one.kind), str(one.title), *shown))


def _cell(one: MethodCell, figure: ArmFigure) -> Cell:
    if figure.mean is None:
        return Cell(ABSENT)
    text = quantity_of(one, figure.mean)
    if not figure.clear:
        return Cell(text, value=figure.mean)
    if figure.change_pct is not None:
        note = with_interval(figure.change_pct, figure.ci95_pct)
    else:
        note = _signed(one, figure.difference or 0.0)
    return Cell(text, _TONES[one.result(figure)], note=note, value=figure.mean)


def _signed(one: MethodCell, value: float) -> str:
    return f"{'+' if value > 0 else ''}{quantity_of(one, value)}"


def quantity_of(one: MethodCell, value: float) -> str:
    """Writes a value of a cell with its unit."""
    if value == 0.0:
        return "0"
    if one.unit.startswith("B"):
        return f"{size(value)}{tr('/s') if one.unit == 'B/s' else ''}"
    shown = Metric("", str(one.title), one.unit, one.good, "difference", "host", one.digits)
    return quantity(value, shown)
