"""What a plan finds of each endpoint, and what the other endpoints cost it.

Enters: a plan, its conditions, records of earlier runs. Leaves: an `EndpointOutlook` for each
endpoint. Never: takes the noise of another load, of which an endpoint says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.noise.power import blocks_spreading, detectable_effect
from pgassay.analysis.noise.prior_runs import Conditions, known_sd
from pgassay.plan.model import Endpoint, Plan


@dataclass(frozen=True)
class EndpointOutlook:
    """What runs of all blocks find of an endpoint; effects are shares of the baseline."""

    endpoint: Endpoint
    trial_sd: float | None
    """Between trials of one arm, in logarithms; None where no run of this load has measured it."""
    detectable: float | None = None
    """The least effect that 9 of 10 runs find; None where there is none, or it is not known."""
    alone: float | None = None
    """The same if it were the only endpoint."""


def endpoint_outlooks(
    plan: Plan, conditions: Conditions, records: Sequence[Mapping[str, Any]]
) -> tuple[EndpointOutlook, ...]:
    """Returns them in the order of the file; none without a comparison."""
    return tuple(
        _outlook(one, replace(plan, metric=one.metric), conditions, records)
        for one in (plan.endpoints if plan.factors else ())
    )


def _outlook(
    endpoint: Endpoint, plan: Plan, conditions: Conditions, records: Sequence[Mapping[str, Any]]
) -> EndpointOutlook:
    sd = None if plan.alternates else known_sd(conditions, plan, records)
    if sd is None:
        return EndpointOutlook(endpoint, None)
    spread = blocks_spreading(plan, sd)
    found, alone = (
        detectable_effect(
            rule_of(plan).of_endpoint(endpoint, of=of), spread, plan.min_blocks, plan.last_block
        )
        for of in (len(plan.endpoints), 1)
    )
    return EndpointOutlook(endpoint, sd, found, alone)
