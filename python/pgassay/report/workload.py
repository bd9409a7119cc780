"""What ran on the server, in words: the workload, its scale, and whether its data fit in memory.

Enters: the context. Leaves: short texts. Never: relies on a key of environment.json.
"""

from __future__ import annotations

from pgassay.analysis.reading.setting_sizes import setting_bytes
from pgassay.errors import SpecError
from pgassay.language import clauses, tr
from pgassay.quantities import size
from pgassay.report.context import ReportContext
from pgassay.samples.forms.environment import DataSize
from pgassay.spec.reading.tables import parsed_toml


def workload_words(context: ReportContext) -> str:
    """Return the workload in words.

    Example: `payments-write at scale 10, 161.5 MB of data, which fit in shared_buffers`.
    """
    asked = context.facts.asked
    names = {one.workload: one.called or one.workload for one in asked if one.workload}
    # Where data were made, their sizes are stored under the same name.
    found = context.environment.sizes
    words = [f"{names.get(name, name)}{_data(found.get(name), context)}" for name in names or found]
    return clauses(words)


def _data(sizes: DataSize | None, context: ReportContext) -> str:
    if sizes is None or sizes.total_bytes is None:
        return ""
    total = sizes.total_bytes
    return tr(", {size} of data{fit}", size=size(total), fit=_fit(total, context))


def _fit(total: float, context: ReportContext) -> str:
    """Where the data can stay between two uses; nothing where that is not known."""
    server = context.environment.server
    stored = str(server.settings.get("shared_buffers") or "")
    buffers = [
        setting_bytes(one.settings.get("shared_buffers") or stored) for one in context.facts.asked
    ]
    if buffers and all(value is not None and total <= value for value in buffers):
        return tr(", which fit in shared_buffers")
    memory = _memory(context)
    if memory is None:
        return ""
    return tr(", which fit in memory") if total <= memory else tr(", more than memory")


def _memory(context: ReportContext) -> float | None:
    """In bytes: the limit of the server's control group, or all of the host's."""
    limit = _server_memory(context.spec_text)
    if limit is not None and (found := setting_bytes(limit)) is not None:
        return float(found)
    memory = context.environment.host.memory_bytes
    return None if memory is None else float(memory)


def _server_memory(spec_text: str) -> str | None:
    """`placement.server_memory` of the experiment file."""
    try:
        placement = parsed_toml(spec_text, "spec.toml").get("placement")
    except SpecError:
        return None
    limit = placement.get("server_memory") if isinstance(placement, dict) else None
    return None if limit is None else str(limit)
