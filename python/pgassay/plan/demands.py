"""What every arm asks of its server: settings, and connections for the load.

Enters: a spec and its plan. Leaves: a `Demand` per arm. Never: knows whether a server has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pgassay.plan.model import Plan
from pgassay.plan.modes import takes_reloads
from pgassay.plan.steps import steps_of
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.parse import Spec


@dataclass(frozen=True)
class Demand:
    """Of one arm."""

    arm: str
    """Its label; empty where there is one arm alone."""
    settings: Mapping[str, str]
    """That it runs with: what all arms have, and its own levels."""
    connections: int | None
    """That the load opens; None where a program of its own does."""
    reloads: bool = False
    """Whether a session of pgassay's changes settings while the load runs."""


def demands_of(spec: Spec, plan: Plan) -> dict[str, Demand]:
    """By the arm's id."""
    held = spec.file.settings.postgres
    reloads = plan.alternates and any(takes_reloads(factor) for factor in plan.factors)
    reloads = reloads and not plan.side_by_side
    found = {}
    for arm in plan.arms:
        settings = {name.lower(): value for name, value in held.items()}
        settings |= {name.lower(): value for name, value in arm.levels_of("postgres").items()}
        label = arm.label if len(plan.arms) > 1 else ""
        own = spec_of_arm(spec, arm.by_kind)
        found[arm.id] = Demand(label, settings, load_connections(own), reloads)
    return found


def load_connections(spec: Spec) -> int | None:
    """What the engine opens at once: as many of each pool as its largest step asks for."""
    load = spec.file.load
    if load.command is not None:
        return None
    clients = [step.clients for step in steps_of(load)]
    if load.pools != "per_scenario":
        return max(clients)
    weights = [scenario.weight for scenario in spec.workload.scenarios]
    return max(sum(_pools(count, weights)) for count in clients)


def _pools(clients: int, weights: Iterable[float]) -> list[int]:
    """As the engine shares clients out (crates/engine/src/config/pools.rs)."""
    weights = list(weights)
    total = sum(weight for weight in weights if weight > 0)
    return [
        round(-weight) if weight < 0 else math.ceil(max(clients * weight / total - 1e-9, 0.0))
        for weight in weights
    ]
