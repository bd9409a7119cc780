"""How one factor's effect depends on another, and trends along the levels of a factor.

Enters: the context. Leaves: a chart, sentences, tables, and what a fraction cannot separate.
Never: computes an estimate.
"""

from __future__ import annotations

from pgassay.analysis.compare.model import Dependence
from pgassay.findings.answer.factors import simple_effects_of
from pgassay.findings.model import FindingKind
from pgassay.language import Message, colon, ntr, tr
from pgassay.plan.description import aliases
from pgassay.quantities import signed_percent
from pgassay.report.charts.effects.interactions import interaction_chart, pairs_left_out
from pgassay.report.charts.style import TONES
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Fold, Heading, Items, Paragraph, note
from pgassay.report.document.captions import cut
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, numbers, table
from pgassay.report.document.text import joined, texts_of, word
from pgassay.report.tables.cells import (
    ABSENT,
    ESTIMATE_COLUMNS,
    EVIDENCE,
    INTERVAL,
    estimate_cells,
    tone_cell,
)

sentence = texts_of(__name__)

_TONES = {
    Dependence.DEPENDS: "undecided",
    Dependence.NEGLIGIBLE: "same",
    Dependence.INDEPENDENT: "same",
    Dependence.UNDECIDED: "undecided",
}
_INTERACTIONS = (
    Column(Message("Effect of"), "heading"),
    Column(Message("Other factor"), "group"),
    *numbers("At its baseline", "At another level", "Difference"),
    *numbers(INTERVAL, EVIDENCE),
    Column(Message("Verdict"), "text"),
)
_SIMPLE = (
    Column(Message("Effect of"), "heading", merges=True),
    Column(Message("At"), "text"),
    *ESTIMATE_COLUMNS,
)
_TRENDS = (
    Column(Message("Factor"), "heading"),
    Column(Message("From, to"), "text"),
    *numbers("Change along the line", "Per doubling", INTERVAL, EVIDENCE),
    Column(Message("Verdict"), "text"),
)


@section("answer/interactions", "How the factors work together")
def interactions(context: ReportContext) -> Blocks:
    """Interactions, and what a fraction of the combinations cannot separate."""
    inseparable = aliases(context.plan)
    found = _interaction_table(context)
    if not found and not inseparable:
        return
    if chart := interaction_chart(context.analysis):
        label = " ".join(one.text for one in context.of_kind(FindingKind.INTERACTION))
        left_out = pairs_left_out(context.analysis)
        caption = joined(
            sentence("each_factors_effect_diamond", margin=context.margin),
            *cut(chart),
            left_out > 0
            and ntr(
                "{n} more pair is only in the table.",
                "{n} more pairs are only in the table.",
                left_out,
            ),
        )
        yield Chart("interactions", chart, label, caption)
    if found:
        yield found
        yield note(
            sentence("effects_multiply_a_difference", margin=context.margin),
            len(found) > 1 and sentence("the_95_of_the", n=len(found)),
            sentence("a_verdict_above_is"),
        )
        summary = tr("Each effect at each level of the other factor")
        yield Fold(summary, [_simple_effect_table(context)], in_text=True)
    if inseparable:
        yield Heading(tr("What this fraction cannot separate"), "aliases")
        yield Items(inseparable, "note")
        yield note(sentence("effects_on_one_line"))


def _interaction_table(context: ReportContext) -> Table:
    """All interactions, each with the two effects that it is the difference of."""
    rows: list[tuple[str | Cell, ...]] = []
    for one in context.analysis.answer.interactions:
        low, high = simple_effects_of(one, context.analysis)
        rows.append(
            (
                f"{one.factor} = {one.level}",
                tr("with {other}", other=one.other),
                f"{low.at}{colon()}{signed_percent(low.estimate.effect_pct)}",
                f"{high.at}{colon()}{signed_percent(high.estimate.effect_pct)}",
                *estimate_cells(one.estimate),
                tone_cell(one.verdict.value, _TONES[one.verdict]),
            )
        )
    return table(_INTERACTIONS, rows)


def _simple_effect_table(context: ReportContext) -> Table:
    return table(
        _SIMPLE,
        [
            (
                f"{effect.factor} = {effect.level}",
                f"{effect.other} = {effect.at}",
                *estimate_cells(effect.estimate),
            )
            for effect in context.analysis.answer.simple_effects
        ],
    )


@section("answer/trends", "Along the levels")
def trends(context: ReportContext) -> Blocks:
    """Every factor with ordered levels."""
    found = context.analysis.answer.trends
    if not found:
        return
    texts = [finding.text for finding in context.of_kind(FindingKind.TREND)]
    for trend, text in zip(found, texts, strict=True):
        yield Paragraph(text, lead=(word(trend.verdict.value, TONES[trend.verdict]),))
    rows = []
    for trend in found:
        verdict = tone_cell(trend.verdict.value, TONES[trend.verdict])
        change, interval, evidence = estimate_cells(trend.estimate)
        doubling = trend.per_doubling_pct
        per_doubling = ABSENT if doubling is None else signed_percent(doubling)
        levels = tr("{lowest} to {highest}", lowest=trend.lowest, highest=trend.highest)
        rows.append((trend.factor, levels, change, per_doubling, interval, evidence, verdict))
    yield table(_TRENDS, rows)
    yield note(sentence("a_straight_line_through"))
