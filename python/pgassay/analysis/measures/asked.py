"""What each arm was run with: the settings of its server and sessions, and its scripts.

Enters: a run directory and its plan. Leaves: an `ArmAsked` for each arm, none where the stored
experiment cannot be read by this version. Never: asks the original files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pgassay.errors import SpecError
from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.parse import load_spec
from pgassay.spec.workload.folder import Workload


@dataclass(frozen=True)
class ArmAsked:
    """The settings, scripts and data that one arm was run with."""

    arm: str
    settings: Mapping[str, str]
    """Those that the arm sets; all others are in environment.json."""
    scripts: Mapping[str, str]
    """By scenario; empty where a program of the user's is the load."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By scenario: its share of transactions; below zero, how many connections it has."""
    workload: str = ""
    """The name of its data in environment.json, such as `payments-write at scale 10`."""
    title: str = ""
    """Of the workload."""
    data_sql: str = ""
    """Schema and data, at the scale of the arm."""
    has_pools: bool = False
    """Whether weights are shares of the connections, not of the transactions."""
    called: Note | None = None
    """The workload and its scale, as `workload` has them."""


def asked_of(run: Path, plan: Plan) -> tuple[ArmAsked, ...]:
    """Returns what every arm of the plan was run with."""
    try:
        spec = load_spec(run / "spec.toml", plan.seed, plan.mode, plan.metric)
        found = []
        for arm in plan.arms:
            own = spec_of_arm(spec, arm.by_kind)
            held = {**own.file.settings.postgres, **own.file.load.settings}
            run_scripts = own.workload.scenarios if own.file.runs_scripts else ()
            found.append(
                ArmAsked(
                    arm.id,
                    {**held, **arm.settings},
                    {one.name: one.script for one in run_scripts},
                    {one.name: one.weight for one in run_scripts},
                    f"{own.workload.name} at scale {own.file.workload.scale}",
                    own.workload.title,
                    "\n".join(own.workload.building_sql(own.file.workload.scale)),
                    own.file.load.pools == "per_scenario",
                    _called(own.workload, own.file.workload.scale),
                )
            )
    except (SpecError, KeyError):
        return ()
    return tuple(found)


def _called(workload: Workload, scale: int) -> Note:
    """The workload with the scale of its data, which tables of the user's have not."""
    if workload.installed is not None:
        return Note.of("analysis/measures/on-tables", name=workload.name)
    return Note.of("analysis/measures/at-scale", name=workload.name, scale=scale)
