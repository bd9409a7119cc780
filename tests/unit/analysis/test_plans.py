"""Plans are the same if the server does the same; one that depends on the arm is a finding."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from pgassay.analysis.measures.statements import SeenPlan
from pgassay.analysis.model import RunFacts
from pgassay.analysis.reading.plan_shape import query_id_of, shape_of
from pgassay.analysis.statements.model import StatementEffect, StatementUse
from pgassay.analysis.statements.use import plans_by_arm
from pgassay.findings.behaviour import plans as rule
from pgassay.findings.model import Confidence
from pgassay.notes import Note
from pgassay.plan.model import Arm
from support.notes import codes_in, notes_of, values_in
from support.synthetic.analyses import analysis_of_arms
from support.synthetic.plans import node, plan, scan, seen, seen_in

RULE = "findings/behaviour/plans"
SEQ, INDEX = scan("item", Filter="(code = $1)"), scan("item", "by_code", Index_Cond="(code = $1)")


def fingerprint(top: Mapping[str, Any]) -> str:
    return shape_of(plan(top)).fingerprint


def test_estimates_do_not_make_another_plan() -> None:
    other = SEQ | {"Total Cost": 99.0, "Plan Rows": 7, "Plan Width": 4, "Output": ["note"]}
    assert fingerprint(other) == fingerprint(SEQ)
    assert query_id_of(plan(SEQ)) == "42"


def test_what_was_measured_does_not_make_another_plan() -> None:
    measured = {"Actual Rows": 7.5, "Actual Loops": 1, "Shared Hit Blocks": 3, "Index Searches": 1}
    spilled = {"Sort Method": "external merge", "Sort Space Type": "Disk", "Sort Space Used": 99}
    sort = node("Sort", INDEX | measured, Sort_Key=["note"]) | spilled | {"Disabled": True}
    assert fingerprint(sort) == fingerprint(node("Sort", INDEX, Sort_Key=["note"]))


def test_versions_may_write_sub_selects_differently() -> None:
    older = scan("item", Filter="((code = $1) AND (NOT (hashed SubPlan 3)))")
    newer = older | {
        "Filter": "((code = (InitPlan 2).col1) AND (NOT (ANY (id = (hashed SubPlan 3).col1))))"
    }
    one, other = (
        node("Result", top | {"Subplan Name": name})
        for top, name in ((older, "InitPlan 2 (returns $1)"), (newer, "InitPlan 2"))
    )
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    "other",
    [
        INDEX,
        scan("other_item", Filter="(code = $1)"),
        scan("item", Filter="(code > $1)"),
        scan("item", "another_index", Index_Cond="(code = $1)"),
        SEQ | {"Parallel Aware": True},
        node("Gather", SEQ, Workers_Planned=2),
    ],
)
def test_another_node_relation_index_condition_or_worker_makes_another_plan(
    other: dict[str, Any],
) -> None:
    assert len({fingerprint(one) for one in (SEQ, INDEX, other)}) == (2 if other is INDEX else 3)


def test_the_order_of_joins_counts_and_that_of_equal_members_does_not() -> None:
    one, two = scan("p1"), scan("p2")
    assert fingerprint(node("Append", one, two)) == fingerprint(node("Append", two, one))
    assert fingerprint(node("BitmapOr", one, two)) == fingerprint(node("BitmapOr", two, one))
    join = node("Hash Join", one, node("Hash", two), Join_Type="Inner", Hash_Cond="(a = b)")
    turned = node("Hash Join", two, node("Hash", one), Join_Type="Inner", Hash_Cond="(a = b)")
    assert fingerprint(join) != fingerprint(turned)


def test_a_plan_reads_as_in_the_text_form_of_explain() -> None:
    top = node(
        "Aggregate",
        node(
            "Hash Join",
            scan("item", Filter="(code = $1)") | {"Alias": "i"},
            node("Hash", scan("sale", "by_item", Schema="shop")),
            Join_Type="Left",
            Hash_Cond="(i.id = sale.item_id)",
        ),
        Strategy="Hashed",
        Partial_Mode="Simple",
        Group_Key=["i.id", "i.code"],
    )
    assert shape_of(plan(top)).text == (
        "HashAggregate",
        "  Group Key: i.id, i.code",
        "  -> Hash Left Join",
        "       Hash Cond: (i.id = sale.item_id)",
        "    -> Seq Scan on item i",
        "         Filter: (code = $1)",
        "    -> Hash",
        "      -> Index Scan using by_item on shop.sale",
    )


SPEC = """
[workload]
use = "payments"
[factors.schema.index]
none = ""
by_code = "CREATE INDEX by_code ON account (branch)"
"""


def found_by(plans: list[SeenPlan], *effects: StatementEffect) -> Any:
    levels = {"a1": {"index": "none"}, "a2": {"index": "by_code"}}
    arms = [Arm(arm, own, {"index": "schema"}) for arm, own in levels.items()]
    analysis = analysis_of_arms(
        levels,
        plans=plans_by_arm(arms, plans),
        statement_use=(StatementUse("42", "SELECT", 1, True, (), effects),),
    )
    return rule.find(analysis, RunFacts(spec_text=SPEC))


def test_a_plan_that_is_another_one_in_all_trials_of_an_arm_is_confirmed_and_names_the_factor() -> (
    None
):
    effect = StatementEffect(
        "42", "index", "none", "by_code", 3, 5.0, 0.5, -4.5, (-5.0, -4.0), 0.001, 0.002, clear=True
    )
    (finding,) = found_by(seen_in({"a1": [SEQ] * 4, "a2": [INDEX] * 4}), effect)
    assert finding.confidence is Confidence.CONFIRMED
    said = values_in(finding.claim)
    assert said[f"{RULE}/by_factor"]["factor"] == "index"
    nodes = ("Seq Scan on item", "Index Scan using by_code on item")
    assert notes_of(said[f"{RULE}/by_factor"]["plans"]) == [
        Note.of(
            f"{RULE}/plan",
            nodes=Note.of("findings/plus", items=(top,)),
            arms=Note.of("findings/clauses", items=(f"index = {level}",)),
        )
        for top, level in zip(nodes, ("none", "by_code"), strict=True)
    ]
    clear = said[f"{RULE}/clear"]
    assert (clear["baseline_ms"], clear["level_ms"]) == (5.0, 0.5)
    assert [one.figure for one in finding.evidence[:2]] == [
        Note.of("findings/plus", items=(top,)) for top in nodes
    ]
    assert finding.evidence[0].metric == Note.of(f"{RULE}/evidence.plan", count=4, of=4)
    setting = values_in(finding.confirm)[f"{RULE}/confirm"]["setting"]
    assert setting == "enable_indexscan = [true, false]"
    following = tomllib.loads(finding.next_spec)
    assert following["factors"]["client"]["settings"] == {"enable_indexscan": [True, False]}
    assert following["workload"] == {"use": "payments"}


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_so_few_trials_that_chance_may_divide_them_confirm_nothing(trials: int) -> None:
    """Three against three trials are divided like this by chance in 2 of 20 cases."""
    (finding,) = found_by(seen_in({"a1": [SEQ] * trials, "a2": [INDEX] * trials}))
    assert finding.confidence is Confidence.SUPPORTED
    assert f"{RULE}/unknown" in codes_in(finding.claim)


def test_a_plan_that_changes_between_trials_of_an_arm_is_only_a_hypothesis() -> None:
    (finding,) = found_by(seen_in({"a1": [SEQ, INDEX, SEQ, INDEX], "a2": [INDEX] * 4}))
    assert finding.confidence is Confidence.HYPOTHESIS
    assert finding.title == Note.of(f"{RULE}/unsteady_title", scenario="find", line=2)


def test_the_factor_that_decides_is_named_among_several() -> None:
    levels = {
        f"a{number}": {"index": index, "work_mem": memory}
        for number, (index, memory) in enumerate(
            [("none", "4MB"), ("none", "8MB"), ("by_code", "4MB"), ("by_code", "8MB")], 1
        )
    }
    arms = [Arm(arm, own, {}) for arm, own in levels.items()]
    plans = {arm: [INDEX if own["index"] == "by_code" else SEQ] * 2 for arm, own in levels.items()}
    (statement,) = plans_by_arm(arms, seen_in(plans))
    assert statement.factor == "index"
    (both,) = plans_by_arm(arms, seen_in(plans | {"a2": [INDEX] * 2}))
    assert both.factor is None
    assert both.differs


def test_only_the_statements_that_take_most_are_findings() -> None:
    many = [
        seen(arm, block, top, sql=f"SELECT {number}")
        for number in range(9)
        for block in (1, 2)
        for arm, top in (("a1", SEQ), ("a2", INDEX))
    ]
    findings = found_by(many)
    assert len(findings) == 5
    assert values_in(findings[-1].claim)[f"{RULE}/others"] == {"count": 4}
    assert not any(f"{RULE}/others" in codes_in(one.claim) for one in findings[:-1])


def test_the_same_plan_everywhere_is_no_finding() -> None:
    assert found_by(seen_in({"a1": [SEQ] * 2, "a2": [SEQ] * 2})) == []
    assert found_by([seen("a1", 1, None, sql="BEGIN;", reason="none")]) == []
