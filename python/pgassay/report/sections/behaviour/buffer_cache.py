"""What shared_buffers held in each arm.

Enters: the context. Leaves: a table. Never: says what a relation has in it.
"""

from __future__ import annotations

from pgassay.analysis.measures.model import BufferCache
from pgassay.language import decimals, tr
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import column, view
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import whole, written

sentence = texts_of(__name__)


@section("behaviour/buffer_cache", "Shared buffers")
def buffer_cache(context: ReportContext) -> Blocks:
    """Shows the buffers of each arm by state; yields nothing where pg_buffercache was not read."""
    found, names = context.analysis.explanation.buffer_cache, arm_styles(context.plan.arms)
    if not found:
        return
    used = [100 * one.used / (one.used + one.unused) for one in found if one.used + one.unused]
    yield summed_up(
        "report/sections/buffers", low=min(used, default=0.0), high=max(used, default=0.0)
    )
    columns = (
        written("arm", "Buffers of 8 kB", lambda arm: names[arm].short, "heading"),
        column("used", "Used", _used),
        written("unused", "Unused", whole),
        column("dirty", "Dirty", _dirty),
        written("pinned", "Pinned", lambda buffers: decimals(buffers, ".1f")),
        written("usage_count", "Mean usage count", lambda mean: decimals(mean, ".1f")),
    )
    yield view(columns, found)
    yield note(sentence("means_of_the_measured"))


def _used(one: BufferCache) -> str:
    return f"{whole(one.used)} ({_percent(one.used, one.used + one.unused)})"


def _dirty(one: BufferCache) -> str:
    share = _percent(one.dirty, one.used)
    return tr("{value} ({share} of the used)", value=whole(one.dirty), share=share)


def _percent(part: float, of: float) -> str:
    return f"{decimals(100 * part / of, '.0f')} %" if of else "0 %"
