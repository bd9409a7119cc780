"""The sections of a trace's report, in their order.

Enters: nothing. Leaves: `TRACE_SECTIONS`. Never: renders.
"""

from __future__ import annotations

from pgassay.report.document.section import Section
from pgassay.report.sections.trace import figures, method, over_time

TRACE_SECTIONS: tuple[Section, ...] = (
    figures.points,
    figures.around,
    over_time.over_time,
    over_time.heat,
    figures.relations,
    method.caveats,
    method.method,
)
