"""Known mechanisms and problems that the run shows signs of, and how to test each.

Enters: the context. Leaves: the findings of kind DIAGNOSIS, the surest first. Never: judges one.
"""

from __future__ import annotations

from pgassay.findings.model import Finding, FindingKind
from pgassay.language import tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Group, Paragraph, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import Span, texts_of
from pgassay.report.sections.answer.evidence import evidence

sentence = texts_of(__name__)


@section("answer/diagnosis", "Diagnosis")
def diagnosis(context: ReportContext) -> Blocks:
    """The section is left out where nothing was recognised."""
    found = context.of_kind(FindingKind.DIAGNOSIS)
    yield from map(shown, found)
    if found:
        yield note(sentence("confirmed_it_differs_between"))


def shown(one: Finding) -> Group:
    """Shows a diagnosis: what it is, how sure, and what speaks for it."""
    sure = (
        [] if one.confidence is None else [Span(tr(one.confidence), "confidence", one.confidence)]
    )
    lead = (Span(one.heading, "bold"), *sure)
    return Group((Paragraph(one.text, "pattern", lead), *evidence(one)), "diagnosis")
