"""What a comparison of two periods can and cannot show.

Enters: the context. Leaves: sentences. Never: names a cause.
"""

from __future__ import annotations

from pgassay.findings.observation.periods import limits as limits_of
from pgassay.report.context import PeriodsContext
from pgassay.report.document.blocks import Items
from pgassay.report.document.section import Blocks, section


@section("periods/limits", "What this comparison can and cannot show")
def limits(context: PeriodsContext) -> Blocks:
    """Shows what makes this comparison weaker, and what none can show."""
    yield Items(tuple(limits_of(context.analysis)), "method", "caveats")
