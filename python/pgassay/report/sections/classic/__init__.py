"""The classic view of pg_expecto and PG_HAZEL: its two sections are all that other rooms import.

Enters: the context of a run or an observation. Leaves: blocks. Never: imports the room's other
modules before a report that has the section is made.
"""

from __future__ import annotations

from pgassay.language import Message
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ObservationContext, ReportContext
from pgassay.report.document.section import Blocks, section


@section("classic/classic", "Classic view")
def classic(context: ReportContext) -> Blocks:
    """Shows the arms of a run side by side; yields nothing where arms alternate within trials."""
    from pgassay.report.sections.classic.view import blocks_of

    if view := context.analysis.classic:
        styles = arm_styles(context.plan.arms)
        names = {one.arm: (styles[one.arm].short, styles[one.arm].label) for one in view.arms}
        yield from blocks_of(view, names, texts=context.facts.statements)


@section("classic/observed", "Classic view")
def observed(context: ObservationContext) -> Blocks:
    """Shows an observation as one arm; yields nothing where nothing was sampled at intervals."""
    from pgassay.report.sections.classic.view import blocks_of

    if view := context.observed.classic:
        names = {one.arm: ("observed", "observed") for one in view.arms}
        yield from blocks_of(view, names, unit=Message("segments"))
