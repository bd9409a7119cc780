"""Convert a plan to the JSON object of plan.json, and back.

Enters: a Plan, or the object of plan.json. Leaves: the other of the two.
Never: draws anything; a stored plan has the order that was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pgassay.notes import coded, note_at, note_to_json, notes_by_name, notes_from_json
from pgassay.plan.model import ALL_ARMS, Arm, Endpoint, Factor, Gate, Plan, PlannedTrial
from pgassay.plan.steps import Step
from pgassay.spec.primary_metric import PRIMARY_METRICS

SCHEMA = "pgassay.plan/1"


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The object of plan.json."""
    arms, held_arms = (
        [{"id": arm.id, "levels": dict(arm.levels)} for arm in some]
        for some in (plan.arms, plan.held_arms)
    )
    return {
        "schema": SCHEMA,
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
    """The plan of a plan.json; raises ValueError if the object is not one."""
    fields = {name: value for name, value in stored.items() if not name.endswith("_coded")}
    schema, warnings = fields.pop("schema", None), fields.pop("warnings", ())
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}, not {SCHEMA!r}")
    try:
        factors, held = (
            tuple(Factor(f["name"], f["kind"], tuple(f["levels"])) for f in fields.get(name, ()))
            for name in ("factors", "held")
        )
        # Kinds are stored with the factors; old plans also have some of them with each arm.
        kinds = {factor.name: factor.kind for factor in (*held, *factors)}
        held_kinds = {factor.name: factor.kind for factor in held}
        plan = Plan(
            **{
                **fields,
                "factors": factors,
                "held": held,
                "arms": tuple(Arm(a["id"], a["levels"], kinds) for a in fields["arms"]),
                "held_arms": tuple(
                    Arm(a["id"], a["levels"], held_kinds) for a in fields.get("held_arms", ())
                ),
                "steps": tuple(Step(**step) for step in fields["steps"]),
                "trials": tuple(PlannedTrial(**trial) for trial in fields["trials"]),
                "notes": notes_from_json(fields.get("notes", ()), warnings),
                "plots_reason": note_at(stored, "plots_reason"),
                "mode_reason": note_at(stored, "mode_reason"),
                "modes_refused": notes_by_name(stored, "modes_refused"),
                "hard": tuple(fields.get("hard", ())),
                "looks": tuple(fields.get("looks", ())),
                "endpoints": tuple(Endpoint(**one) for one in fields.get("endpoints", ())),
                "gates": tuple(
                    Gate(**{**one, "metrics": tuple(one["metrics"])})
                    for one in fields.get("gates", ())
                ),
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a field is missing or unknown: {error}") from None
    if any(set(arm.levels) != set(kinds) for arm in plan.arms):
        raise ValueError("an arm has other factors than the plan")
    known = {ALL_ARMS} if plan.alternates else {arm.id for arm in plan.arms}
    if any(trial.arm not in known for trial in plan.trials):
        raise ValueError("a trial names an unknown arm")
    if plan.metric not in PRIMARY_METRICS:
        raise ValueError(f"its metric is {plan.metric!r}, which this pgassay does not measure")
    return plan


def same_design(one: Plan, other: Plan) -> bool:
    """Whether two plans are of the same design; estimates, texts, orders and gates may differ.

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
