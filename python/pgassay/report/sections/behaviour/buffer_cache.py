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
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, whole

sentence = texts_of(__name__)


@section("behaviour/buffer_cache", "Shared buffers")
def buffer_cache(context: ReportContext) -> Blocks:
    """Shows the buffers of each arm by state; yields nothing where pg_buffercache was not read."""
    found, names = context.analysis.explanation.buffer_cache, arm_styles(context.plan.arms)
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
    yield note(sentence("means_of_the_measured"))


def _percent(part: float, of: float) -> str:
    return f"{decimals(100 * part / of, '.0f')} %" if of else "0 %"
