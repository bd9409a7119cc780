"""The plans of each statement, by arm.

Enters: the plans of trials. Leaves: `StatementPlans`, those that differ between arms first.
Never: judges a plan, or says which is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgassay.analysis.measures.plans import SeenPlan
from pgassay.analysis.reading.plan_shape import PlanShape
from pgassay.analysis.statements.model import StatementPlan, StatementPlans
from pgassay.notes import UNSAID
from pgassay.plan.model import Arm


def plans_by_arm(arms: Sequence[Arm], seen: Sequence[SeenPlan]) -> tuple[StatementPlans, ...]:
    """Statements by scenario and line."""
    by_statement: dict[tuple[str, str], list[SeenPlan]] = {}
    for one in seen:
        by_statement.setdefault((one.scenario, one.sql), []).append(one)
    found = [
        replace(one, factor=_deciding(one.plan_of_arm, arms))
        for plans in by_statement.values()
        for one in [_of_statement([arm.id for arm in arms], plans)]
    ]
    return tuple(
        sorted(found, key=lambda one: (not one.differs, not one.varies, one.scenario, one.line))
    )


def _of_statement(arms: Sequence[str], seen: Sequence[SeenPlan]) -> StatementPlans:
    shapes: dict[str, PlanShape] = {}
    trials: dict[str, dict[str, int]] = {}
    for one in sorted(seen, key=lambda one: arms.index(one.arm) if one.arm in arms else 0):
        if one.shape is not None:
            shapes[one.shape.fingerprint] = one.shape
            counts = trials.setdefault(one.shape.fingerprint, {})
            counts[one.arm] = counts.get(one.arm, 0) + 1
    first = seen[0]
    plans = [
        StatementPlan(found, counts, shapes[found].nodes, shapes[found].text, shapes[found].tree)
        for found, counts in trials.items()
    ]
    return StatementPlans(
        first.scenario,
        min(one.line for one in seen),
        first.sql,
        tuple(dict.fromkeys(one.queryid for one in seen if one.queryid)),
        tuple(plans),
        UNSAID if plans or first.reason is None else first.reason,
    )


def _deciding(plans: Mapping[str, str], arms: Sequence[Arm]) -> str | None:
    deciding = []
    for factor in arms[0].levels if arms else ():
        by_level: dict[str, set[str]] = {}
        for arm in arms:
            if arm.id in plans:
                by_level.setdefault(arm.levels[factor], set()).add(plans[arm.id])
        if len(set[str]().union(*by_level.values())) > 1 and all(
            len(own) == 1 for own in by_level.values()
        ):
            deciding.append(factor)
    return deciding[0] if len(deciding) == 1 else None
