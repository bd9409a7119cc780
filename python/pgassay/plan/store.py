"""plan.json: a plan as plain JSON, and back.

Enters: a Plan, or the object of plan.json. Leaves: the other of the two.
Never: draws anything anew; a stored plan is what was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pgassay.plan.model import ALL_ARMS, Arm, Factor, Plan, PlannedTrial
from pgassay.plan.steps import Step

SCHEMA = "pgassay.plan/1"


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The object of plan.json."""
    arms, held_arms = (
        [{"id": arm.id, "levels": dict(arm.levels)} for arm in some]
        for some in (plan.arms, plan.held_arms)
    )
    return {"schema": SCHEMA, **asdict(plan), "arms": arms, "held_arms": held_arms}


def plan_from_json(stored: Mapping[str, Any]) -> Plan:
    """The plan of a plan.json; raises ValueError where the object is not one."""
    fields = dict(stored)
    schema = fields.pop("schema", None)
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}, not {SCHEMA!r}")
    try:
        factors, held = (
            tuple(Factor(f["name"], f["kind"], tuple(f["levels"])) for f in fields.get(name, ()))
            for name in ("factors", "held")
        )
        # The kinds stand with the factors; plans of before also had some of them with each arm.
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
                "warnings": tuple(fields["warnings"]),
                "hard": tuple(fields.get("hard", ())),
                "looks": tuple(fields.get("looks", ())),
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a field is missing or unknown: {error}") from None
    if any(set(arm.levels) != set(kinds) for arm in plan.arms):
        raise ValueError("the levels of an arm are not those of the factors")
    known = {ALL_ARMS} if plan.alternates else {arm.id for arm in plan.arms}
    if any(trial.arm not in known for trial in plan.trials):
        raise ValueError("a trial names an arm that is not there")
    return plan


def same_design(one: Plan, other: Plan) -> bool:
    """Whether two plans are of one experiment; estimates and words may have changed since."""
    first, second = (
        # What is hard to change shows in the whole plots of the trials, where it matters.
        replace(
            plan,
            trial_s=0.0,
            warnings=(),
            hard=(),
            plots_reason="",
            stopping=plan.stops,
            mode_reason="",
            modes_refused={},
            # Of an A/A run: the file's own, which its trials need not have.
            held_mode="",
        )
        for plan in (one, other)
    )
    return first == second
