"""The effect on each server of a fleet.

Enters: the context. Leaves: sentences and a table. Never: computes an estimate.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import ByServer
from pgassay.findings.answer.servers import RULE
from pgassay.language import Message, clauses, decimals, sentences, tr
from pgassay.quantities import load
from pgassay.report.charts.effects.by_server import by_server_chart
from pgassay.report.charts.style import DEPENDENCE_TONES
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.answers import server_effects
from pgassay.report.document.blocks import Chart, Paragraph, note
from pgassay.report.document.captions import cut
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Table, column, view
from pgassay.report.document.text import joined, texts_of, word
from pgassay.report.tables.cells import (
    BLOCKS,
    compared_p,
    interval_column,
    percent_column,
    written,
)

sentence = texts_of(__name__)

_COLUMNS = (
    column("of", "Level compared", lambda row: _subject(row["of"]), "group"),
    written("server", "Server", str, "heading"),
    BLOCKS,
    percent_column("effect_pct"),
    interval_column("ci95_pct"),
)


@section("answer/by_server", "By server")
def by_server(context: ReportContext) -> Blocks:
    """A run whose blocks ran on several servers."""
    found = context.analysis.answer.by_server
    if not found:
        return
    texts = context.sentences(RULE)
    for one, text in zip(found, texts, strict=True):
        yield Paragraph(text, lead=(word(one.verdict.value, DEPENDENCE_TONES[one.verdict]),))
    if chart := by_server_chart(context.analysis):
        caption = sentence("the_effect_on_each", margin=context.margin)
        yield Chart("by_server", chart, sentences(texts), joined(caption, *cut(chart)))
    yield effect_table(context)
    tests = clauses(text for one in found if (text := _test(one)))
    n = sum(len(one.servers) for one in found)
    yield note(
        sentence("a_block_runs_on"),
        sentence("the_95_of_all", n=n),
        tests and f"{tests}.",
    )


def effect_table(context: ReportContext) -> Table:
    """The effect on each server, with its blocks."""
    return view(_COLUMNS, server_effects(context))


def _subject(one: ByServer) -> str:
    return f"{one.factor} = {one.level}" + (
        "" if one.step is None else f", {load(one.step, one.step_unit)}"
    )


def _test(one: ByServer) -> str:
    """Such as `F(1, 6) = 7.4, p = 0.03 by all ways to deal the blocks to the servers`."""
    if one.test is None:
        return ""
    between, within = one.test.freedom
    how = _WAYS[one.test.by]
    return tr(
        "{subject}: F({between}, {within}) = {f}, p {p} {how}",
        subject=_subject(one),
        between=decimals(between, "g"),
        within=decimals(within, ".3g"),
        f=decimals(one.test.f, ".3g"),
        p=compared_p(one.test.p),
        how=how,
    )


_WAYS = {
    "permutation": Message("by all ways to deal the blocks to the servers"),
    "F": Message("by Fisher’s distribution"),
}
