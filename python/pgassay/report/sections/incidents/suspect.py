"""The experiment that would test the first sign of the largest incident.

Enters: the context. Leaves: blocks. Never: names a cause.
"""

from __future__ import annotations

from pgassay.findings.incidents.suspects import proposal_of
from pgassay.findings.suspects import present_in
from pgassay.report.context import IncidentsContext
from pgassay.report.document.section import Blocks, section
from pgassay.report.sections.proposed import proposed


@section("incidents/suspect", "An experiment that tests the first sign")
def suspect(context: IncidentsContext) -> Blocks:
    """Shows the experiment file of `--propose`."""
    present = present_in(context.environment)
    yield from proposed(proposal_of(context.incidents, context.texts, present))
