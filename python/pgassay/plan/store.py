"""Convert a plan to the JSON object of plan.json, and back.

Enters: a Plan, or the object of plan.json. Leaves: the other of the two.
Never: draws anything; a stored plan has the order that was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from pgassay.plan.model import ALL_ARMS, Arm, Plan
from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.endpoints import PRIMARY_METRICS
from pgassay.stored_model import (
    Codes,
    Items,
    SaidByName,
    SaidNote,
    SaidNotes,
    Stored,
    StoredFile,
    dataclass_of,
)


class StoredArm(Stored):
    """An arm; the kinds of its factors are stored with the factors."""

    id: str
    levels: dict[str, str]


class PlanFile(StoredFile):
    """What plan.json has in another form than the fields of a `Plan`, which a run copies after
    every block and caches figures of: kinds stand with the factors and not with each arm, and a
    note is a sentence beside its code. Older plans have kinds with the arms, too, and no codes."""

    schema_: Literal["pgassay.plan/1"] = Field("pgassay.plan/1", alias="schema")
    arms: Items[StoredArm]
    held_arms: Items[StoredArm] = ()
    notes: Annotated[SaidNotes, Codes("notes")] = Field(alias="warnings")
    plots_reason: SaidNote = None
    mode_reason: SaidNote = None
    modes_refused: SaidByName = Field({})


_WITHOUT: Mapping[str, Any] = {
    **dict.fromkeys(("arms", "held_arms", "notes"), ()),
    **dict.fromkeys(("plots_reason", "mode_reason"), None),
    "modes_refused": {},
}
"""The fields of a `Plan` before those of its `PlanFile` are known."""


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Returns the object of plan.json."""
    return {"schema": PlanFile.schema_name(), **asdict(plan), **PlanFile.of(plan).to_json()}


def plan_from_json(stored: Mapping[str, Any]) -> Plan:
    """Returns the plan of a plan.json; raises UnfitValue if the object is not one."""
    file = PlanFile.read(stored)
    named = {name: value for name, value in file if name != "schema_"}
    plan = dataclass_of(Plan, {**stored, **_WITHOUT})
    kinds = {factor.name: factor.kind for factor in (*plan.held, *plan.factors)}
    held_kinds = {factor.name: factor.kind for factor in plan.held}
    if any(set(arm.levels) != set(kinds) for arm in file.arms):
        raise UnfitValue("arm-with-other-factors")
    known = {ALL_ARMS} if plan.alternates else {arm.id for arm in file.arms}
    if any(trial.arm not in known for trial in plan.trials):
        raise UnfitValue("trial-of-unknown-arm")
    if plan.metric not in PRIMARY_METRICS:
        raise UnfitValue("metric-of-another-version", metric=plan.metric)
    named["arms"] = tuple(Arm(arm.id, arm.levels, kinds) for arm in file.arms)
    named["held_arms"] = tuple(Arm(arm.id, arm.levels, held_kinds) for arm in file.held_arms)
    return replace(plan, **named)


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
            outside_s=None,
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
            queries=plan.queries and replace(plan.queries, chosen={}, open_alone=()),
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
