"""The slices of a switchback trial, in which all arms alternate, and the scripts that they run.

Enters: a planned trial, the plan, the experiment. Leaves: the table of its slices, a variant per
arm under the arm's id, and every script that some arm runs. Never: runs anything, or has settings
of the whole server in a variant: no session can change them (`reloading.py` does).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.plan.switchback import rounds_of
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.load.slices import SlicesTable, VariantTable
from pgassay.spec.workload.folder import Scenario

PARTS = 4
"""Stored intervals of a slice: the first is cut off, the next and the last show carry-over."""


def slices_of(
    trial: PlannedTrial, spec: Spec, plan: Plan
) -> tuple[SlicesTable, tuple[Scenario, ...]]:
    """Returns the slices of a trial in which arms alternate, and all scenarios that they need."""
    scripts = {arm.id: spec_of_arm(spec, arm.by_kind).workload.scenarios for arm in plan.arms}
    shared = {one for one in spec.workload.scenarios if all(one in s for s in scripts.values())}
    own: dict[str, list[str]] = {}
    scenarios: dict[Scenario, str] = {}
    for arm, found in scripts.items():
        for scenario in found:
            named = scenario if scenario in shared else _apart(scenario, scenarios)
            scenarios.setdefault(named, arm)
            own.setdefault(arm, []).append(named.name)
    varied = any(len(names) < len(scenarios) for names in own.values())
    variants = tuple(
        VariantTable(
            name=arm.id,
            # In a duet the servers start with their settings, and clients connect with theirs.
            settings={} if plan.side_by_side else arm.session_settings,
            scenarios=tuple(own[arm.id]) if varied else None,
        )
        for arm in plan.arms
    )
    order = tuple(arm for arms in rounds_of(plan, trial) for arm in arms)
    table = SlicesTable(length=trial.slice_s or 1.0, variants=variants, schedule=order)
    return table, tuple(scenarios)


def _apart(scenario: Scenario, known: Collection[Scenario]) -> Scenario:
    """A scenario that arms do not share, named after what it runs; the same one only once."""
    for number in range(1, 100):
        named = replace(scenario, name=f"{scenario.name} ({number})")
        if named in known or named.name not in {one.name for one in known}:
            return named
    return scenario
