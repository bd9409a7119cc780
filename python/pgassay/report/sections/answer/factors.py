"""How one factor's effect depends on another, and trends along the levels of a factor.

Enters: the context. Leaves: a chart, sentences, tables, and what a fraction cannot separate.
Never: computes an estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pgassay.analysis.compare.model import Interaction, SimpleEffect, Trend
from pgassay.findings.answer.factors import simple_effects_of
from pgassay.findings.model import FindingKind
from pgassay.language import colon, ntr, tr
from pgassay.plan.description import aliases
from pgassay.quantities import signed_percent
from pgassay.report.charts.effects.interactions import interaction_chart, pairs_left_out
from pgassay.report.charts.style import DEPENDENCE_TONES, TONES
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Fold, Heading, Items, Paragraph, note
from pgassay.report.document.captions import cut
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.document.text import joined, texts_of, word
from pgassay.report.tables.cells import (
    ABSENT,
    ESTIMATE,
    percent_column,
    subject,
    verdict_column,
    written,
)

sentence = texts_of(__name__)

_EFFECT_OF = column("level", "Effect of", subject, "heading", merges=True)
_SIMPLE = (_EFFECT_OF, column("at", "At", lambda c: f"{c.other} = {c.at}", "text"), *ESTIMATE)
_TRENDS = (
    written("factor", "Factor", str, "heading"),
    column("highest", "From, to", lambda t: tr("{lowest} to {highest}", **vars(t)), "text"),
    percent_column("estimate.effect_pct", "Change along the line"),
    column("per_doubling_pct", "Per doubling", lambda trend: _per_doubling(trend)),
    *ESTIMATE[1:],
    verdict_column(TONES),
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
        yield Fold(summary, [view(_SIMPLE, context.analysis.answer.simple_effects)], in_text=True)
    if inseparable:
        yield Heading(tr("What this fraction cannot separate"), "aliases")
        yield Items(inseparable, "note")
        yield note(sentence("effects_on_one_line"))


def _interaction_table(context: ReportContext) -> Table:
    """All interactions, each with the two effects that it is the difference of."""

    def at(place: int) -> Callable[[Interaction], Cell]:
        return lambda one: _at(simple_effects_of(one, context.analysis)[place])

    columns = (
        replace(_EFFECT_OF, merges=False),
        column("other", "Other factor", lambda c: tr("with {other}", other=c.other), "group"),
        column("low", "At its baseline", at(0)),
        column("high", "At another level", at(1)),
        percent_column("estimate.effect_pct", "Difference"),
        *ESTIMATE[1:],
        verdict_column(DEPENDENCE_TONES),
    )
    return view(columns, context.analysis.answer.interactions)


def _at(one: SimpleEffect) -> Cell:
    change = one.estimate.effect_pct
    return Cell(f"{one.at}{colon()}{signed_percent(change)}", value=change)


@section("answer/trends", "Along the levels")
def trends(context: ReportContext) -> Blocks:
    """Shows how the metric goes along the levels of each factor with ordered levels."""
    found = context.analysis.answer.trends
    if not found:
        return
    texts = [finding.text for finding in context.of_kind(FindingKind.TREND)]
    for trend, text in zip(found, texts, strict=True):
        yield Paragraph(text, lead=(word(trend.verdict.value, TONES[trend.verdict]),))
    yield view(_TRENDS, found)
    yield note(sentence("a_straight_line_through"))


def _per_doubling(trend: Trend) -> str:
    doubling = trend.per_doubling_pct
    return ABSENT if doubling is None else signed_percent(doubling)
