"""The plans of one trial's statements.

Enters: a stored trial. Leaves: `SeenPlan` values. Never: compares trials.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.analysis.reading.plan_shape import PlanShape, query_id_of, shape_of
from pgassay.notes import Note
from pgassay.samples.stored_parts import StoredTrial


@dataclass(frozen=True)
class SeenPlan:
    """The plan of one statement in one arm of a trial."""

    block: int
    arm: str
    scenario: str
    line: int
    sql: str
    queryid: str
    """In pg_stat_statements; empty where the server does not tell."""
    shape: PlanShape | None
    reason: Note | None
    """Why there is no plan."""


def read_plans(trial: StoredTrial) -> tuple[SeenPlan, ...]:
    """Of every arm that was asked; none where the run has no plans."""
    stored = trial.plans()
    if not stored:
        return ()
    block = trial.summary().block
    return tuple(
        SeenPlan(
            block,
            arm.arm,
            found.scenario,
            found.line,
            found.sql,
            query_id_of(found.plan),
            shape_of(found.plan) if found.plan else None,
            found.why_not,
        )
        for arm in stored
        for found in arm.statements
    )
