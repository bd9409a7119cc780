"""statements.json and plans.json: the texts of statements, and how the server plans them.

Enters: texts, plans of statements, or the objects of the files. Leaves: a `StatementsFile`, a
`PlansFile`. Never: interprets a text or a plan.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pgassay.stored_model import Items, Part, SaidNote, Stored, StoredFile


class StatementsFile(StoredFile):
    """The texts of the statements that took most."""

    schema_: Literal["pgassay.statements/1"] = Field("pgassay.statements/1", alias="schema")
    statements: dict[str, str]
    """queryid → text."""


class PlannedStatement(Stored):
    """A statement of a scenario, with its plan or the reason why there is none."""

    scenario: str
    line: int
    sql: str
    plan: Items[dict[str, Any]] = ()
    """As EXPLAIN (FORMAT JSON) gives it."""
    reason: SaidNote = None
    """Why it has no plan."""


class PlansOfArm(Part):
    """The statements of one arm's scripts."""

    arm: str
    statements: Items[PlannedStatement]
    note: SaidNote = None
    """Why not all plans could be read."""


class PlansFile(StoredFile):
    """plans.json of one trial."""

    schema_: Literal["pgassay.plans/1"] = Field("pgassay.plans/1", alias="schema")
    arms: Items[PlansOfArm]
