"""The verdicts: a chart of the effect in each block, and a table; and what an A/A run found.

Enters: the context. Leaves: a chart, its caption's words, tables. Never: decides a verdict.
"""

from __future__ import annotations

from pgassay.findings.answer.endpoints import endpoint_title
from pgassay.findings.model import FindingKind
from pgassay.findings.wording import signed_percent
from pgassay.report.charts.effect import effect_chart, runs_out
from pgassay.report.charts.style import TONES
from pgassay.report.context import ReportContext
from pgassay.report.section import Content, section
from pgassay.report.tables.cells import (
    EVIDENCE,
    INTERVAL,
    change,
    evidence,
    interval_of,
    means,
    subject,
    tone_cell,
)
from pgassay.report.tables.table import Column, Table, table

_COLUMNS = (
    Column("Level compared", "heading", merges=True),
    Column("Endpoint", "text"),
    Column("Load", "line"),
    Column("Verdict", "text"),
    *map(Column, ("Change", INTERVAL, "Baseline", "Level", "Blocks", EVIDENCE)),
)


@section("answer/effect", "The effect, block by block")
def effect(context: ReportContext) -> Content | None:
    """The verdicts; nothing where nothing was compared."""
    verdicts = verdict_table(context)
    if not verdicts:
        return None
    return {
        "chart": effect_chart(context.analysis),
        "effects": _blocks_on_one_side(context),
        "runs_out": runs_out(context.analysis),
        "verdicts": verdicts,
    }


def verdict_table(context: ReportContext) -> Table:
    """The primary metric and the endpoints beside it, over whole trials and step by step."""
    analysis = context.analysis
    judged = [
        one
        for verdict in analysis.verdicts()
        for one in (verdict, *(endpoint for endpoint, _ in analysis.beside(verdict)))
    ]
    rows = [
        (
            subject(one),
            endpoint_title(one.metric),
            one.load,
            tone_cell(one.verdict.value, TONES[one.verdict]),
            change(one),
            interval_of(one),
            *means(one),
            str(one.blocks),
            evidence(one),
        )
        for one in judged
    ]
    found = table(_COLUMNS, rows)
    if not analysis.endpoints:
        found = found.without("Endpoint")
    return found if context.has_several_steps else found.without("Load")


def _blocks_on_one_side(context: ReportContext) -> tuple[str, ...]:
    """What the dots show, counted: how many blocks lie on the mean's side of zero."""
    words = []
    for c in context.analysis.verdicts():
        if c.step is None and c.effect_pct and c.block_effects_pct:
            same = sum(effect * c.effect_pct > 0 for effect in c.block_effects_pct)
            side = "above" if c.effect_pct > 0 else "below"
            blocks = len(c.block_effects_pct)
            words.append(
                f"{subject(c)}: {same} of {blocks} block{'s' if blocks != 1 else ''}"
                f" {side} zero, mean {signed_percent(c.effect_pct)}"
            )
    return tuple(words)


@section("answer/calibration", "Calibration of this host")
def calibration(context: ReportContext) -> Content | None:
    """The findings of the A/A run, one a row."""
    findings = context.of_kind(FindingKind.CALIBRATION)
    return {"findings": findings} if findings else None
