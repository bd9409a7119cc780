"""Every figure of both periods, by group.

Enters: the context. Leaves: folded tables. Never: leaves a figure out by how much it changed.
"""

from __future__ import annotations

from collections.abc import Callable

from pgassay.analysis.observation.periods.figures import GROUPS
from pgassay.report.context import PeriodsContext
from pgassay.report.document.section import Blocks, Section, differing
from pgassay.report.sections.periods.changes import change_table


def _content(group: str) -> Callable[[PeriodsContext], Blocks]:
    def content(context: PeriodsContext) -> Blocks:
        found = context.analysis.of_group(group)
        if found:
            unusual = sum(one.is_unusual for one in found)
            yield differing("report/sections/figures", len(found), unusual)
            yield change_table(found, context, str(GROUPS[group]))

    return content


GROUP_SECTIONS = tuple(
    Section(f"periods/{name}", title, _content(name)) for name, title in GROUPS.items()
)
