"""What shared_buffers held in each arm.

Enters: the context. Leaves: a table. Never: says what a relation has in it.
"""

from __future__ import annotations

from pgassay.language import Message, decimals, tr
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Column, table
from pgassay.report.tables.cells import ABSENT, whole


@section("behaviour/buffer_cache", "Shared buffers")
def buffer_cache(context: ReportContext) -> Blocks:
    """Shows the buffers of each arm by state; yields nothing where pg_buffercache was not read."""
    found, names = context.analysis.buffer_cache, arm_styles(context.plan.arms)
    if not found:
        return
    columns = (tr("Used"), tr("Unused"), tr("Dirty"), tr("Pinned"), tr("Mean usage count"))
    rows = [
        (
            names[one.arm].short,
            f"{whole(one.used)} ({_percent(one.used, one.used + one.unused)})",
            whole(one.unused),
            tr(
                "{value} ({share} of the used)",
                value=whole(one.dirty),
                share=_percent(one.dirty, one.used),
            ),
            decimals(one.pinned, ".1f"),
            ABSENT if one.usage_count is None else decimals(one.usage_count, ".1f"),
        )
        for one in found
    ]
    yield table([Column(Message("Buffers of 8 kB"), "heading"), *map(Column, columns)], rows)
    yield note(
        tr(
            "Means of the measured time, by pg_buffercache each 10\u00a0s (PostgreSQL 16 and "
            "later). The usage count of a buffer rises by one with each use, up to 5, and falls "
            "each time the search for a free buffer passes it: a mean near 5 with buffers unused "
            "says that all data in use fit."
        )
    )


def _percent(part: float, of: float) -> str:
    return f"{decimals(100 * part / of, '.0f')} %" if of else "0 %"
