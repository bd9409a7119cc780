"""The evidence of a finding, and how to test it.

Enters: a finding. Leaves: a folded block, or none. Never: judges the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.findings.model import Evidence, Finding
from pgassay.language import clauses, colon, comma, tr
from pgassay.report.document.blocks import Block, Code, Fold, Items, Paragraph
from pgassay.report.document.text import Span, Text, said


def evidence(one: Finding) -> Iterator[Fold]:
    """Figures for and against it, what would confirm or refute it, and an experiment that would."""
    if one.evidence or one.confirm or one.refute or one.next_spec:
        summary = tr("Evidence, and how to test it")
        yield Fold(summary, tuple(_parts(one)), printed=True, in_text=True)


def _parts(one: Finding) -> Iterator[Block]:
    yield Items([_figure(each) for each in one.evidence])
    if one.not_for_it:
        figures = clauses(f"{each.metric}{colon()}{each.of_arm}" for each in one.not_for_it)
        yield Paragraph(said("<b>Does not speak for it:</b> {figures}.", figures=figures))
    if one.confirm:
        yield Paragraph(said("<b>To confirm:</b> {confirm}", confirm=one.confirm))
    if one.refute:
        yield Paragraph(said("<b>It is refuted if</b> {refute}", refute=one.refute))
    if one.next_spec:
        yield Fold(tr("An experiment that tests it"), [Code(one.next_spec, "toml")], in_text=True)


def _figure(each: Evidence) -> Text:
    arm = f" ({each.arm})" if each.arm else ""
    return (
        Span(f"{each.metric}{colon()}"),
        Span(str(each.figure), "bold"),
        Span(f"{arm}{comma()}{each.time}"),
    )
