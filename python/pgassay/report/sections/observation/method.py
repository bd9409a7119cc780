"""How the server was observed, what that cost, and what is missing.

Enters: the context. Leaves: sentences, and figures for them. Never: computes beyond units.
"""

from __future__ import annotations

from pgassay.findings.wording import spaced
from pgassay.language import decimals
from pgassay.report.context import ObservationContext
from pgassay.report.document.section import Content, section
from pgassay.report.summaries import observation as observation_summary


@section("observation/caveats", "Caveats")
def caveats(context: ObservationContext) -> Content | None:
    """An observation with any caveat."""
    found = observation_summary.caveats(context)
    return {"caveats": found} if found else None


@section("observation/method", "Method")
def method(context: ObservationContext) -> Content:
    """All observations have the section."""
    observed = context.observed
    return {
        "cpu_s": decimals(observed.cost.get("cpu_s", 0.0), ".1f"),
        "samples": spaced(observed.cost.get("wait_ticks", 0), 0),
        "disk_mb": decimals(observed.bytes_on_disk / 1048576, ".1f"),
        "clock": observed.clock,
    }
