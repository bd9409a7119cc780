"""Made-up plans as EXPLAIN (FORMAT JSON) gives them.

Enters: names of nodes and relations. Leaves: plans, and the plans of trials.
Never: needs a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.analysis.measures.statements import SeenPlan
from pgassay.analysis.reading.plan_shape import shape_of
from pgassay.notes import legacy

SQL = "SELECT note FROM item WHERE code = $1;"


def node(kind: str, *children: Mapping[str, Any], **details: Any) -> dict[str, Any]:
    """A node with estimates that say nothing; `_` in names of details stands for a space."""
    named = {name.replace("_", " "): value for name, value in details.items()}
    return {
        "Node Type": kind,
        "Parallel Aware": False,
        "Startup Cost": 0.0,
        "Total Cost": 8.3,
        "Plan Rows": 1,
        "Plan Width": 65,
        **named,
        **({"Plans": list(children)} if children else {}),
    }


def plan(top: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"Plan": dict(top), "Query Identifier": 42}]


def scan(relation: str, index: str = "", *children: Mapping[str, Any], **details: Any) -> Any:
    """A scan of a relation, or of an index on it."""
    if index:
        details["Index_Name"] = index
    kind = "Index Scan" if index else "Seq Scan"
    return node(kind, *children, Relation_Name=relation, Alias=relation, **details)


def seen(
    arm: str, block: int, top: Mapping[str, Any] | None, *, sql: str = SQL, reason: str = ""
) -> SeenPlan:
    """The plan of one statement in one trial."""
    shape = None if top is None else shape_of(plan(top))
    return SeenPlan(block, arm, "find", 2, sql, "42", shape, legacy(reason) if reason else None)


def seen_in(arms: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[SeenPlan]:
    """Arm → its plan in block 1, 2 and so on."""
    return [
        seen(arm, block, top) for arm, plans in arms.items() for block, top in enumerate(plans, 1)
    ]
