"""Convert a plan to the JSON object of plan.json, and back.

Enters: a Plan, or the object of plan.json. Leaves: the other of the two.
Never: draws anything; a stored plan has the order that was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Literal

from pydantic import Field

from pgassay.notes import coded, note_at, note_to_json, notes_by_name, notes_from_json
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.spec.endpoints import PRIMARY_METRICS
from pgassay.stored_model import Items, StoredFile, dataclass_of


class PlanFile(StoredFile):
    """What plan.json has beside the fields of a `Plan`, or as sentences in older versions."""

    schema_: Literal["pgassay.plan/1"] = Field("pgassay.plan/1", alias="schema")
    warnings: Items[str]
    notes: Items[Any] = ()
    plots_reason: str = ""
    mode_reason: str = ""
    modes_refused: dict[str, str] = Field({})


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Returns the object of plan.json."""
    arms, held_arms = (
        [{"id": arm.id, "levels": dict(arm.levels)} for arm in some]
        for some in (plan.arms, plan.held_arms)
    )
    return {
        "schema": PlanFile.schema_name(),
        **asdict(plan),
        "arms": arms,
        "held_arms": held_arms,
        "notes": [note_to_json(one) for one in plan.notes],
        "warnings": [str(one) for one in plan.notes],
        **coded("plots_reason", plan.plots_reason),
        **coded("mode_reason", plan.mode_reason),
        **coded("modes_refused", plan.modes_refused),
    }


def plan_from_json(stored: Mapping[str, Any]) -> Plan:
    """Returns the plan of a plan.json; raises ValueError if the object is not one."""
    said = PlanFile.read(stored)
    fields = {name: value for name, value in stored.items() if name not in PlanFile.model_fields}
    try:
        plan = dataclass_of(Plan, {**fields, "notes": ()})
    except ValueError as error:
        raise ValueError(f"is damaged: {error}") from None
    # Kinds are stored with the factors; old plans also have some of them with each arm.
    kinds = {factor.name: factor.kind for factor in (*plan.held, *plan.factors)}
    held_kinds = {factor.name: factor.kind for factor in plan.held}
    if any(set(arm.levels) != set(kinds) for arm in plan.arms):
        raise ValueError("is damaged: an arm has other factors than the plan")
    known = {ALL_ARMS} if plan.alternates else {arm.id for arm in plan.arms}
    if any(trial.arm not in known for trial in plan.trials):
        raise ValueError("is damaged: a trial names an unknown arm")
    if plan.metric not in PRIMARY_METRICS:
        raise ValueError(
            f"cannot be used: its metric is {plan.metric!r}, which this pgassay does not measure"
        )
    return replace(
        plan,
        arms=tuple(replace(arm, kinds=kinds) for arm in plan.arms),
        held_arms=tuple(replace(arm, kinds=held_kinds) for arm in plan.held_arms),
        notes=notes_from_json(said.notes, said.warnings),
        plots_reason=note_at(stored, "plots_reason"),
        mode_reason=note_at(stored, "mode_reason"),
        modes_refused=notes_by_name(stored, "modes_refused"),
    )


def same_design(one: Plan, other: Plan) -> bool:
    """Returns whether two plans are of the same design; estimates, texts, orders and gates may
    differ.

    Another version may have drawn another order from the same seed, which a resumed run keeps.
    """
    first, second = (
        # Hard factors matter only through the whole plots of the trials, which are compared.
        replace(
            plan,
            trials=(),
            trial_s=0.0,
            notes=(),
            hard=(),
            plots_reason=None,
            stopping=plan.stops,
            # Older versions stored none of a long sequential run.
            looks=plan.all_looks,
            mode_reason=None,
            modes_refused={},
            # The mode in the file, which an A/A run need not have.
            held_mode="",
            # Those of the command line are in no experiment file.
            gates=(),
            gates_only=False,
            # What the run has shown so far.
            dropped={},
        )
        for plan in (one, other)
    )
    return first == second and _content(one) == _content(other)


def _content(plan: Plan) -> list[Any]:
    """What the trials of each block are, whatever their order."""
    plots: dict[tuple[int, int | None], set[str]] = {}
    for trial in plan.trials:
        plots.setdefault((trial.block, trial.whole_plot), set()).add(trial.arm)
    return sorted(
        (
            trial.block,
            trial.arm,
            sorted(plots[trial.block, trial.whole_plot]),
            trial.slice_s or 0.0,
            sorted(trial.directories.items()),
        )
        for trial in plan.trials
    )
