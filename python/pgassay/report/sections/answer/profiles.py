"""The profiles of arms that are described side by side.

Enters: the context. Leaves: a table of each arm's profile, and its top statements. Never: judges.
"""

from __future__ import annotations

from pgassay.language import Message
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Heading, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import texts_of
from pgassay.report.tables.profile import profile_table, top_statements

sentence = texts_of(__name__)


@section("answer/profiles", "Side by side")
def profiles(context: ReportContext) -> Blocks:
    """Shows the profiles where a factor is described; yields nothing where all are judged."""
    if not any(factor.describes for factor in context.plan.factors):
        return
    yield profile_table(context)
    yield note(sentence("means_of_the_trials"))
    if statements := top_statements(context):
        yield Heading(Message("What most of the time went into"))
        yield statements
