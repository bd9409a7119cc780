"""What every arm demands of its server: settings, and connections for the load.

Enters: a spec and its plan. Leaves: a `Demand` per arm. Never: checks it against a server.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pgassay.plan.model import Plan
from pgassay.plan.modes import takes_reloads, takes_writes
from pgassay.plan.steps import steps_of
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.load.table import LoadTable
from pgassay.spec.workload.folder import Workload


@dataclass(frozen=True)
class Demand:
    """What one arm asks of the machine it runs on."""

    arm: str
    """Its label; empty if there is a single arm."""
    settings: Mapping[str, str]
    """Settings that it runs with: those of all arms, and its own levels."""
    connections: int | None
    """Connections of the load; None if load.command opens them."""
    reloads: bool = False
    """Whether pgassay has a session that changes settings or knobs while the load runs."""
    varied: frozenset[str] = frozenset()
    """Names of the settings that are levels of this arm."""

    def key_of(self, name: str) -> str:
        """Returns the key of the experiment file that sets this setting, or could set it."""
        return f"{'factors' if name in self.varied else 'settings'}.postgres.{name}"


def demands_of(spec: Spec, plan: Plan) -> dict[str, Demand]:
    """Returns what each arm asks of its machine, by the arm's id."""
    held = spec.file.settings.postgres
    at_edges = (takes_reloads(factor) or takes_writes(factor) for factor in plan.factors)
    reloads = plan.alternates and any(at_edges)
    reloads = reloads and not plan.side_by_side
    found = {}
    for arm in plan.arms:
        settings = {name.lower(): value for name, value in held.items()}
        varied = {name.lower(): value for name, value in arm.settings.items()}
        label = arm.label if len(plan.arms) > 1 else ""
        own = spec_of_arm(spec, arm.by_kind)
        found[arm.id] = Demand(
            label,
            settings | varied,
            load_connections(own.file.load, own.workload),
            reloads,
            frozenset(varied),
        )
    return found


def load_connections(load: LoadTable, workload: Workload) -> int | None:
    """Returns the most connections that the engine has open at once; None for load.command."""
    if load.command is not None:
        return None
    clients = [step.clients for step in steps_of(load)]
    if load.pools != "per_scenario":
        return max(clients)
    weights = [scenario.weight for scenario in workload.scenarios]
    return max(sum(pool_sizes(count, weights)) for count in clients)


def pool_sizes(clients: int, weights: Iterable[float]) -> list[int]:
    """Returns the connections of each pool, computed as in crates/engine/src/config/pools.rs."""
    weights = list(weights)
    total = sum(weight for weight in weights if weight > 0)
    return [
        round(-weight) if weight < 0 else math.ceil(max(clients * weight / total - 1e-9, 0.0))
        for weight in weights
    ]
