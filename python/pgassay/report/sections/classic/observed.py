"""The classic view of an observation.

Enters: the context. Leaves: the same tables as of a run, with one arm. Never: gives a verdict.
"""

from __future__ import annotations

from pgassay.language import Message
from pgassay.report.context import ObservationContext
from pgassay.report.document.section import Content, section
from pgassay.report.sections.classic.cells import Shown
from pgassay.report.sections.classic.classic import content_of


@section("classic/observed", "Classic view")
def observed(context: ObservationContext) -> Content | None:
    """An observation in which anything was sampled at intervals."""
    view = context.observed.classic
    if view is None:
        return None
    names = {one.arm: ("observed", "observed") for one in view.arms}
    return content_of(Shown(view, names, unit=Message("segments")))
