"""What actors say of their machines: names, and whether they have this pgassay."""

from __future__ import annotations

from pgassay.cluster.nodes import OnNode, distinct, refuse_other_versions
from pgassay.spec.load.table import GeneratorsTable
from support.refusals import refused


def test_nodes_of_one_machine_have_names_of_their_own() -> None:
    assert distinct(["db1", "db2", "db1", "db1"]) == ["db1", "db2", "db1 (2)", "db1 (3)"]


def test_a_node_with_another_pgassay_is_refused_by_name() -> None:
    own = OnNode().about()
    refuse_other_versions([own, own])
    with refused("node-of-another-version", name="db2") as found:
        refuse_other_versions([own, {**own, "name": "db2", "pgassay": "0.0.1"}])
    assert found.value.values["theirs"].startswith("0.0.1 ")


def test_a_plan_says_where_the_load_comes_from() -> None:
    assert GeneratorsTable().described == "from every node of the Ray cluster at auto"
    table = GeneratorsTable(ray="lab:6379", count=3, resource="load")
    assert table.described == "from 3 nodes of the Ray cluster at lab:6379 with the resource load"
