"""The slices of a load: their variants for the engine, in a trial's rows, and in a switchback.

Enters: a `SlicesTable`; a finished load's result and columns; a planned trial in which all arms
alternate. Leaves: the engine's `slices` object; the columns with the variant of each row; the
trial's slices, a variant per arm under the arm's id, and every script that some arm runs. Never:
lets a setting of one variant last into the slices of another, or has settings of the whole server
in a variant: no session can change them (`reloading.py` does).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg import sql

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.plan.switchback import rounds_of
from pgassay.server.statements import statement
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.load.slices import SlicesTable, VariantTable
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.model.record import Columns

NO_CONNECTIONS: Mapping[str, Mapping[str, Any]] = {}


def engine_slices(
    slices: SlicesTable, connections: Mapping[str, Mapping[str, Any]] = NO_CONNECTIONS
) -> dict[str, Any]:
    """Returns the slices as the engine reads them; `connections` are those of variants with another
    server."""
    varied = sorted({name for variant in slices.variants for name in variant.settings})
    changes = bool(varied) or any(variant.sql for variant in slices.variants)
    numbers = {variant.name: number for number, variant in enumerate(slices.variants)}
    return {
        "variants": [
            {
                "name": variant.name,
                "sql": _statements(variant, varied) if changes else [],
                "scenarios": None if variant.scenarios is None else list(variant.scenarios),
                **({"connection": connections[variant.name]} if connections else {}),
            }
            for variant in slices.variants
        ],
        "schedule": [[numbers[name], slices.length_of(name)] for name in slices.turns],
    }


def _statements(variant: VariantTable, varied: Sequence[str]) -> list[str]:
    """Each variant sets or resets (by NULL) every setting that any variant sets; then plans are
    made anew: a generic plan of a prepared statement would outlast its setting."""
    settings = [
        sql.SQL(statement("trials/slice_setting").decode().strip())
        .format(name=sql.Literal(name), value=sql.Literal(variant.settings.get(name)))
        .as_string(None)
        for name in varied
    ]
    plans = statement("trials/slice_plans").decode().strip()
    return [*settings, plans, *variant.sql]


def with_variants(columns: Columns, result: Mapping[str, Any]) -> Columns:
    """Returns the interval columns with the name of each row's variant; none where a row has no
    slice, as those of transactions that cross an edge."""
    names = [found["variant"] for found in result.get("slices", ())]
    if not names:
        return columns
    of_rows = [None if number is None else names[number] for number in columns["slice"]]
    return {**columns, "variant": of_rows}


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
