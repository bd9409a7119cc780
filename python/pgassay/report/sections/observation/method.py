"""How the server was observed, what that cost, and what is missing.

Enters: the context. Leaves: sentences, and figures for them. Never: computes beyond units.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.language import decimals, tr
from pgassay.quantities import spaced
from pgassay.report.context import ObservationContext
from pgassay.report.document.blocks import Items
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.text import Inline, texts_of
from pgassay.report.summaries import observation as observation_summary

sentence = texts_of(__name__)


@section("observation/caveats", "Caveats")
def caveats(context: ObservationContext) -> Blocks:
    """Lists what is missing or was sampled less often."""
    yield Items(observation_summary.caveats(context))


@section("observation/method", "Method")
def method(context: ObservationContext) -> Blocks:
    """Says how the server was read, what that cost, and how its clock differs from ours."""
    yield summed_up("report/sections/observing")
    yield Items([*_method(context)], "method")


def _method(context: ObservationContext) -> Iterator[Inline]:
    observed, cost = context.observed, context.observed.cost
    yield sentence("readonly_sessions_with_a")
    yield sentence(
        "the_sampler_used_s",
        cpu_s=decimals(cost.get("cpu_s", 0.0), ".1f"),
        samples=spaced(cost.get("wait_ticks", 0), 0),
        disk_mb=decimals(observed.bytes_on_disk / 1048576, ".1f"),
    )
    if clock := observed.clock:
        yield sentence(
            "the_servers_clock_is",
            ahead=f"{clock['offset_at_end_ms']:+.3f}",
            uncertainty=f"{clock['uncertainty_ms']:.3f}",
            applied=tr("; times in its log are corrected by this")
            if clock["applied"]
            else tr(": no difference beyond that uncertainty"),
        )
    yield sentence.marked("an_observation_describes_to")
