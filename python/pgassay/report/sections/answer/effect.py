"""The verdicts: a chart of the effect in each block, and a table; and what an A/A run found.

Enters: the context. Leaves: a chart, its caption's words, tables. Never: decides a verdict.
"""

from __future__ import annotations

from pgassay.analysis.model import Comparison
from pgassay.findings.answer.endpoints import endpoint_title, plain_badge, verdict_words
from pgassay.findings.model import FindingKind
from pgassay.language import clauses, ntr, tr
from pgassay.quantities import signed_percent
from pgassay.report.charts.effects.effect import effect_chart, runs_out
from pgassay.report.charts.style import TONES
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Facts, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.document.text import Text, joined, texts_of
from pgassay.report.tables.cells import (
    BLOCKS,
    CHANGE,
    LOAD,
    MEANS,
    P,
    difference,
    looks_decided,
    subject,
    tone_cell,
    written,
)

sentence = texts_of(__name__)


def _verdict(one: Comparison) -> Cell:
    """The words that the badge has, too, in their colour."""
    words = verdict_words(one)
    tone = TONES[one.verdict] if words == plain_badge(one.verdict) else "undecided"
    return tone_cell(str(words), tone)


_COLUMNS = (
    column("level", "Level compared", subject, "group"),
    written("metric", "Endpoint", endpoint_title, "heading"),
    LOAD,
    column("verdict", "Verdict", _verdict, "text"),
    *CHANGE,
    column("difference", "Difference", difference),
    *MEANS,
    BLOCKS,
    P,
)


@section("answer/effect", "The effect, block by block")
def effect(context: ReportContext) -> Blocks:
    """The verdicts; nothing where nothing was compared."""
    verdicts = verdict_table(context)
    if not verdicts:
        return
    if chart := effect_chart(context.analysis):
        effects = _blocks_on_one_side(context)
        yield Chart("effect", chart, clauses(effects), _caption(context, effects))
    yield verdicts
    if words := p_alone(context):
        yield note(words)
    yield note(sentence("baseline_and_level_are"))


def _caption(context: ReportContext, effects: tuple[str, ...]) -> Text:
    factors, verdicts = context.plan.factors, context.analysis.answer.verdicts()
    adjusted = any(one.block_raw_pct != one.block_effects_pct for one in verdicts)
    return joined(
        *(tr("{text}.", text=words) for words in effects),
        sentence("each_dot_is_one", baseline=factors[0].baseline)
        if len(factors) == 1
        else sentence("each_dot_is_one_block"),
        sentence("diamond_and_bar_the", margin=context.margin),
        adjusted and sentence("dots_are_without_what"),
        runs_out(context.analysis) and tr("A bar without an end mark continues beyond the edge."),
    )


def p_alone(context: ReportContext) -> str:
    """What p says, where a small one stands beside an undecided verdict."""
    return sentence("p_is_of_each") if any(map(looks_decided, _judged(context))) else ""


def _judged(context: ReportContext) -> list[Comparison]:
    return [one for one, _ in context.analysis.answer.judged()]


def verdict_table(context: ReportContext, *, is_whole: bool = False) -> Table:
    """The primary metric and the endpoints beside it, over whole trials and step by step.

    The whole table has groups that name each level with its baseline, and the change in the
    metric's unit; the section shows it without both.
    """
    against = column("level", "Level compared", _against, "group")
    columns = (against, *_COLUMNS[1:]) if is_whole else _COLUMNS
    return view(columns, _judged(context)).only_if(
        metric=context.analysis.answer.endpoints,
        step=context.has_several_steps,
        difference=is_whole,
    )


def _against(one: Comparison) -> str:
    return tr("{others} against {baseline}", others=subject(one), baseline=one.baseline)


def _blocks_on_one_side(context: ReportContext) -> tuple[str, ...]:
    """What the dots show, counted: how many blocks lie on the mean's side of zero."""
    words = []
    for c in _judged(context):
        if (
            c.metric == context.analysis.answer.metric
            and c.step is None
            and c.effect_pct
            and c.block_effects_pct
        ):
            same = sum(effect * c.effect_pct > 0 for effect in c.block_effects_pct)
            words.append(_side(c, same, c.effect_pct))
    return tuple(words)


def _side(one: Comparison, same: int, effect_pct: float) -> str:
    blocks, what, change = len(one.block_effects_pct), subject(one), signed_percent(effect_pct)
    if effect_pct > 0:
        return ntr(
            "{subject}: higher in {same} of {n} block, mean {change}",
            "{subject}: higher in {same} of {n} blocks, mean {change}",
            blocks,
            subject=what,
            same=same,
            change=change,
        )
    return ntr(
        "{subject}: lower in {same} of {n} block, mean {change}",
        "{subject}: lower in {same} of {n} blocks, mean {change}",
        blocks,
        subject=what,
        same=same,
        change=change,
    )


@section("answer/calibration", "Calibration of this host")
def calibration(context: ReportContext) -> Blocks:
    """The findings of the A/A run, one a row."""
    if findings := context.of_kind(FindingKind.CALIBRATION):
        yield Paragraph(sentence("one_arm_was_run"))
        yield Facts([(one.heading, one.text) for one in findings], "sentences")
