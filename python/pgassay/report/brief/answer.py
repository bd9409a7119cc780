"""What a run answers: verdicts, figures, caveats, why, findings, noise.

Enters: the context. Leaves: part → its blocks and lines. Never: says "because"; findings say how
sure they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.language import Message, clauses, colon, decimals, ntr, sentences, tr
from pgassay.notes import Note
from pgassay.quantities import plain_number
from pgassay.report.brief.fitting import texts
from pgassay.report.brief.plain import Part
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Paragraph
from pgassay.report.document.section import shown
from pgassay.report.document.table import Table
from pgassay.report.document.text import Span, texts_of
from pgassay.report.sections.answer.by_server import effect_table
from pgassay.report.sections.answer.effect import p_alone, verdict_table
from pgassay.report.sections.answer.gates import gate_table
from pgassay.report.sections.answer.why import difference_table, why
from pgassay.report.sections.behaviour.waits import wait_event_table
from pgassay.report.sections.queries.verdicts import most_important
from pgassay.report.sections.record.method import caveats
from pgassay.report.summaries import headline
from pgassay.report.tables.by_arm import arm_table
from pgassay.report.tables.by_load import arms_at_loads
from pgassay.report.tables.cells import ABSENT, measured, with_interval
from pgassay.report.tables.profile import machine_table, profile_table, top_statements
from pgassay.report.tables.time_parts import accounting_table

sentence = texts_of(__name__)

_MOST_EVIDENCE = 2
_MOST_EVENTS = 10


def answer_parts(context: ReportContext) -> dict[str, Part]:
    """Returns the blocks of the brief's answer, by the names that `parts.toml` lists."""
    meaning = texts()["meaning"]["run" if context.plan.factors else "single"]
    margin, interval = f"{context.margin} %", headline.interval_words(context)
    return {
        "question": [context.title],
        "answer": _answers(context),
        "figures": _figures(context),
        "gates": [gate_table(context.gates)],
        "queries": list(shown(most_important(context))),
        "meaning": [one.format(margin=margin, interval=interval) for one in meaning],
        "caveats": caveats.blocks(context),
        "why": _why(context),
        "findings": _findings(context),
        "noise": _noise(context),
        "arms": [_arm_table(context)],
        **_profile(context),
    }


def _profile(context: ReportContext) -> dict[str, Part]:
    """What each arm was like; of described arms this is the answer, in place of their means."""
    described = context.plan.describes
    events = context.analysis.explanation.wait_events[:_MOST_EVENTS]
    return {
        **({"arms": []} if described else {}),
        "profile": [profile_table(context) if described else machine_table(context)],
        "loads": [arms_at_loads(context).load_table() if context.has_several_steps else None],
        "waits": [_without_statements(wait_event_table(context, events))],
        "statements": [top_statements(context)],
    }


def _without_statements(table: Table) -> Table:
    """Of wait events: the statements have a part of their own."""
    rows = (replace(row, cells=row.cells[:-1]) for row in table.rows)
    return replace(table, columns=table.columns[:-1], rows=tuple(rows))


def _answers(context: ReportContext) -> Part:
    yield from headline.ending_blocks(context)
    yield from headline.limit_blocks(context)
    for kind, name in _KINDS.items():
        for one in context.of_kind(kind):
            yield Paragraph(one.text, lead=(Span(str(name)),))


_KINDS = {
    FindingKind.INTERACTION: Message("interaction"),
    FindingKind.TREND: Message("trend"),
    FindingKind.CALIBRATION: Message("calibration"),
}


def _figures(context: ReportContext) -> Part:
    """Every verdict with its endpoints, in per cent and in the metric's unit."""
    if found := verdict_table(context, is_whole=True):
        yield colon().join(headline.primary_metric(context))
        yield found
        yield p_alone(context) or None
    yield effect_table(context)


def _why(context: ReportContext) -> Part:
    """The explanations in words, then the costs that differ, then the parts of the time."""
    for one in why.blocks(context):
        if isinstance(one, Paragraph):
            yield replace(one, lead=())
    yield difference_table(context)
    yield accounting_table(context, is_short=True)


def _findings(context: ReportContext) -> Iterator[str]:
    said: set[Note] = set()
    for one in context.of_kind(FindingKind.DIAGNOSIS):
        text = _not_yet(one, said)
        yield f"- [{tr(one.confidence or 'not rated')}] {one.heading}{colon()}{text}"
        yield from _basis(one)
    for one in context.of_kind(FindingKind.OBSERVATION):
        if text := _not_yet(one, said):
            yield tr("- [described] {one}", one=text)


def _not_yet(finding: Finding, said: set[Note]) -> str:
    """Its sentences that no finding before has; they are added to those said."""
    found = [one for one in finding.sentences if one not in said]
    said.update(found)
    return sentences(map(str, found))


def _basis(one: Finding) -> Iterator[str]:
    """What a diagnosis rests on, and what would test it."""
    figures = [f"{each.metric}{colon()}{each.of_arm}" for each in one.evidence]
    more = len(figures) - _MOST_EVIDENCE
    if figures:
        yield tr(
            "  evidence: {listed}{more}",
            listed=clauses(figures[:_MOST_EVIDENCE]),
            more=ntr("; and {n} more figure", "; and {n} more figures", more) if more > 0 else "",
        )
    if one.confirm:
        yield tr("  confirm: {confirm}", confirm=one.confirm)
    if one.refute:
        yield tr("  refute: {refute}", refute=one.refute)


def _noise(context: ReportContext) -> Iterator[str]:
    noise = context.analysis.noise.floor
    if noise is None:
        return
    judged = {
        context.analysis.answer.metric,
        *(one.metric for one in context.analysis.answer.endpoints),
    }
    for one in noise.metrics:
        if one.metric not in judged:
            continue
        shown = tuple(plain_number(100 * end) for end in one.trial_sd_ci95 or ())
        interval = tr(" (95 % CI {low} to {high} %)", low=shown[0], high=shown[1]) if shown else ""
        yield sentence(
            "trials_of_one_arm",
            title=METRICS[one.metric].title,
            value=plain_number(100 * one.trial_sd),
            interval=interval,
            trials=one.trials,
            measured_s=decimals(one.measured_s, "g"),
        )
    if noise.turns is not None:
        yield sentence(
            "the_difference_of_two",
            title=METRICS[noise.turns.metric].title,
            value=plain_number(100 * noise.turns.trial_sd),
        )


def _arm_table(context: ReportContext) -> Table:
    """The figures that are asked for most; of several factors, arms have their levels alone."""
    arms = context.analysis.answer.arms
    shown = [METRICS[name] for name in texts()["arm_metrics"]]
    rows = [
        (one.title, [measured(arm.means.get(one.name), one) for arm in arms])
        for one in shown
        if any(one.name in arm.means for arm in arms)
    ]
    trials = (tr("Trials"), [str(arm.trials) for arm in arms])
    effects = {one.arm: one.estimate for one in context.analysis.answer.arm_effects}
    against = [
        with_interval(one.effect_pct, one.ci95_pct) if one else ABSENT
        for one in (effects.get(arm.id) for arm in arms)
    ]
    title = METRICS[context.analysis.answer.metric].title
    of_first = (tr("{metric} against the first", metric=title), against)
    factors = [one.name for one in context.plan.factors]
    named = " · ".join(factors) if len(factors) > 1 else tr("Mean of the trials")
    found = arm_table(context, named, [trials, *rows, *([of_first] if effects else [])])
    return replace(found, columns=tuple(replace(one, full_title="") for one in found.columns))
