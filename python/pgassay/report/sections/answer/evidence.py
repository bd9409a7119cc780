"""The evidence of a finding, and how to test it.

Enters: a finding. Leaves: a folded block, or none. Never: judges the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pgassay.findings.model import Evidence, Finding
from pgassay.language import colon, tr
from pgassay.report.document.blocks import Block, Code, Fold, Items, Paragraph
from pgassay.report.document.text import Span, Text, joined, said


def evidence(one: Finding) -> Iterator[Fold]:
    """Figures for and against it, what would confirm or refute it, and an experiment that would."""
    if one.evidence or one.confirm or one.refute or one.next_spec:
        summary = tr("Evidence, and how to test it")
        yield Fold(summary, tuple(_parts(one)), printed=True, in_text=True)


def _parts(one: Finding) -> Iterator[Block]:
    yield Items([_figure(each) for each in one.evidence])
    if one.not_for_it:
        yield Paragraph(joined(said("<b>Does not speak for it:</b>"), _against(one.not_for_it)))
    if one.confirm:
        yield Paragraph(said("<b>To confirm:</b> {confirm}", confirm=one.confirm))
    if one.refute:
        yield Paragraph(said("<b>It is refuted if</b> {refute}", refute=one.refute))
    if one.next_spec:
        yield Paragraph(said("<b>An experiment that tests it:</b>"))
        yield Code(one.next_spec, "toml")


def _figure(each: Evidence) -> Text:
    arm = f" ({each.arm})" if each.arm else ""
    return (
        Span(f"{each.metric}{colon()}"),
        Span(str(each.figure), "bold"),
        Span(f"{arm}, {each.time}"),
    )


def _against(figures: Iterable[Evidence]) -> str:
    found = (
        f"{each.metric}{colon()}{each.figure}{f' ({each.arm})' if each.arm else ''}"
        for each in figures
    )
    return f"{'; '.join(found)}."
