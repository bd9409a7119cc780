"""Why two plans differ, and where an estimate of rows begins to be wrong."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from pgassay.analysis.plans.change import plan_change
from pgassay.analysis.plans.estimates import misestimates
from pgassay.analysis.reading.plan_shape import top_of
from pgassay.notes import Note
from support.synthetic.plans import node, plan, scan

SEQ, INDEX = scan("item", Filter="(code = 7)"), scan("item", "by_code", Index_Cond="(code = 7)")
FILE = {"Sort Space Type": "Disk", "Sort Space Used": 900}


def ran(of: dict[str, Any], estimated: int, actual: float, loops: int = 1) -> dict[str, Any]:
    return of | {"Plan Rows": estimated, "Actual Rows": actual, "Actual Loops": loops}


def joined(kind: str, outer: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    return node(kind, outer, inner, Join_Type="Inner")


def partitions(*names: str) -> dict[str, Any]:
    return node("Append", *(scan(one) | {"Alias": f"part_{at}"} for at, one in enumerate(names)))


A, B, C = scan("a"), scan("b"), scan("c")
CASES: tuple[tuple[dict[str, Any], dict[str, Any], str, str], ...] = (
    (SEQ, INDEX, "index-used", "index-unused"),
    (INDEX, INDEX | {"Index Name": "other"}, "other-index", "other-index"),
    (INDEX, INDEX | {"Node Type": "Index Only Scan"}, "scan", "scan"),
    (SEQ, SEQ | {"Filter": "(code > 7)"}, "conditions", "conditions"),
    (joined("Hash Join", A, B), joined("Merge Join", A, B), "join-method", "join-method"),
    (
        joined("Hash Join", joined("Hash Join", A, B), C),
        joined("Hash Join", A, joined("Hash Join", B, C)),
        "join-order", "join-order",
    ),
    (SEQ, node("Gather", SEQ, Workers_Planned=2), "parallel", "not-parallel"),
    (node("Sort", SEQ), node("Sort", SEQ) | FILE, "sort-spilled", "sort-in-memory"),
    (node("Hash", SEQ), node("Hash", SEQ, Hash_Batches=4), "hash-spilled", "hash-in-memory"),
    (
        node("Aggregate", SEQ, Strategy="Hashed"),
        node("Aggregate", SEQ, Strategy="Hashed", Disk_Usage=80),
        "groups-spilled", "groups-in-memory",
    ),
    (
        node("Aggregate", SEQ, Strategy="Hashed"), node("Aggregate", SEQ, Strategy="Sorted"),
        "grouping", "grouping",
    ),
    (SEQ, SEQ | {"Lossy Heap Blocks": 9}, "bitmap-lossy", "bitmap-exact"),
    (SEQ, node("Memoize", SEQ), "node-added", "node-gone"),
    (SEQ, SEQ | {"JIT": {"Expressions": True}}, "jit", "no-jit"),
    (partitions("p1", "p2"), partitions("p1"), "partitions", "partitions"),
    (joined("Hash Join", A, B), A, "table-unread", "table-read"),
    (INDEX, INDEX | {"Index Searches": 7, "Actual Loops": 1}, "skips", "no-skips"),
    (
        node("Sort", SEQ, Sort_Key=["code"]), node("Sort", SEQ, Sort_Key=["code", "at"]),
        "sort-key", "sort-key",
    ),
    (
        node("Aggregate", node("Gather Merge", SEQ, Workers_Planned=1), Strategy="Sorted"),
        node(
            "Aggregate",
            node(
                "Gather Merge",
                node("Aggregate", SEQ, Strategy="Sorted", Partial_Mode="Partial"),
                Workers_Planned=1,
            ),
            Strategy="Sorted", Partial_Mode="Finalize",
        ),
        "groups-in-workers", "groups-after-workers",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("one", "other", "code", "back"), CASES)
def test_a_rule_knows_a_change_in_both_directions(
    one: dict[str, Any], other: dict[str, Any], code: str, back: str
) -> None:
    for before, after, expected in ((one, other, code), (other, one, back)):
        found = plan_change(top_of(plan(before)), top_of(plan(after)))
        assert found is not None
        assert [each.code for each in found.reasons] == [f"analysis/plans/{expected}"]
        assert all(str(each) for each in found.reasons)
    assert plan_change(one, one) is None


def test_a_rewritten_query_may_call_a_table_otherwise_and_read_it_less_often() -> None:
    joined_twice = joined("Hash Join", A, scan("a") | {"Alias": "again"})
    cases = ((joined("Hash Join", A, B), A), (joined_twice, A))
    for (before, after), rewritten in itertools.product(cases, (True, False)):
        found = plan_change(before, after, rewritten=rewritten)
        assert found is not None
        unread = not rewritten and before is cases[0][0]
        (reason,) = found.reasons
        assert reason.code == f"analysis/plans/{'table-unread' if unread else 'table-left'}"
    other = plan_change(SEQ, INDEX | {"Alias": "x"}, rewritten=True)
    assert other is not None
    assert [each.code for each in other.reasons] == ["analysis/plans/index-used"]


def test_several_searches_for_a_list_of_values_are_no_skip_scan() -> None:
    of_list = INDEX | {"Index Cond": "(code = ANY ('{1,2}'::integer[]))"}
    assert plan_change(of_list, of_list | {"Index Searches": 2, "Actual Loops": 1}) is None


def test_the_first_node_that_differs_is_marked_on_both_sides() -> None:
    top, other = (node("Limit", node("Sort", one)) for one in (SEQ, INDEX))
    found = plan_change(top, other)
    assert found is not None
    assert found.baseline.differs_at == found.level.differs_at == 2
    assert found.level.text[2] == "    -> Index Scan using by_code on item"


def test_rows_and_blocks_that_were_measured_stand_beside_the_estimates() -> None:
    measured = ran(SEQ, 500, 2.5, loops=4) | {"Shared Hit Blocks": 30, "Temp Read Blocks": 2}
    found = plan_change(measured, INDEX)
    assert found is not None
    assert found.baseline.text[2:] == (
        "  Rows: 2.5 (500 estimated), 4 loops",
        "  Blocks: 30 hit, 2 temporary read",
    )
    assert not any("Rows" in line for line in found.level.text)


def test_an_estimate_is_wrong_where_that_begins_and_not_where_rows_were_not_asked_for() -> None:
    wrong = ran(SEQ, 10, 5000)
    above = ran(node("Hash", wrong), 10, 5000)
    (found,) = misestimates(ran(joined("Hash Join", ran(A, 900, 900), above), 5, 900))
    assert found.note == Note.of(
        "analysis/plans/misestimate", node="Seq Scan on item", estimated=10.0, actual=5000.0
    )
    few = ran(SEQ, 5000, 3)
    assert misestimates(few)
    assert misestimates(ran(node("Limit", few), 3, 3)) == ()
    assert misestimates(ran(node("Limit", ran(node("Sort", few), 5000, 3)), 3, 3))
    assert misestimates(ran(SEQ, 1, 20)) == ()
