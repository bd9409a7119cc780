"""Why plans of real servers differ, each reason provoked by a setting or by statistics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pgassay.analysis.plans.change import plan_change
from pgassay.analysis.plans.model import PlanChange
from pgassay.analysis.reading.plan_shape import shape_of, top_of
from pgassay.server.protocol import Connection
from support.servers.lab import LabServer, scalar
from support.servers.pool import on_every_version

TABLES = """
DROP TABLE IF EXISTS kind, item, sale, part;
CREATE TABLE kind (id int PRIMARY KEY, name text);
INSERT INTO kind SELECT id, 'kind ' || id FROM generate_series(1, 50) AS id;
CREATE TABLE item (id int PRIMARY KEY, kind int, code int, twin int, note text);
INSERT INTO item SELECT id, id % 50 + 1, id % 500, id % 100, md5(id::text)
  FROM generate_series(1, 20000) AS id;
CREATE INDEX item_code ON item (code);
CREATE TABLE sale (id int PRIMARY KEY, item int, amount int);
INSERT INTO sale SELECT id, id % 20000 + 1, id % 7 FROM generate_series(1, 40000) AS id;
CREATE TABLE part (day int, value int) PARTITION BY LIST (day);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2);
CREATE TABLE part_3 PARTITION OF part FOR VALUES IN (3);
INSERT INTO part SELECT id % 3 + 1, id FROM generate_series(1, 3000) AS id;
ANALYZE kind, item, sale, part
"""
BY_CODE = "SELECT * FROM item WHERE code = 7"
JOINED = "SELECT sum(amount) FROM sale JOIN item ON sale.item = item.id"
THREE = (
    "SELECT count(*) FROM sale s JOIN item i ON s.item = i.id JOIN kind k ON i.kind = k.id"
    " WHERE k.name = 'kind 3'"
)
TWINS = "SELECT sum(amount) FROM item JOIN sale USING (id) WHERE twin = 7 AND kind = 8"
NOT_NESTED = "enable_mergejoin = off; SET LOCAL enable_nestloop = off"
NESTED = "enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
WORKERS = (
    "max_parallel_workers_per_gather = 2; SET LOCAL parallel_setup_cost = 0;"
    "SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0"
)
CASES: tuple[tuple[str, str, str, str, str], ...] = (
    ("index-used", BY_CODE, "enable_indexscan = off; SET LOCAL enable_bitmapscan = off", "", ""),
    ("scan", BY_CODE, "enable_indexscan = off", "enable_bitmapscan = off", ""),
    ("join-method", JOINED, NESTED, "", ""),
    ("join-order", THREE, "join_collapse_limit = 1", "", ""),
    ("grouping", "SELECT kind FROM item GROUP BY kind", "", "enable_hashagg = off", ""),
    ("sort-spilled", "TABLE item ORDER BY note", "", "work_mem = '64kB'", "work_mem = '9MB'"),
    ("hash-spilled", JOINED, "", "work_mem = '64kB'", f"work_mem = '9MB'; SET LOCAL {NOT_NESTED}"),
    (
        "groups-spilled", "SELECT note FROM item GROUP BY note", "", "work_mem = '64kB'",
        "work_mem = '32MB'; SET LOCAL enable_sort = off",
    ),
    ("parallel", "SELECT count(*) FROM sale WHERE amount = 3", "", WORKERS, ""),
    ("jit", "SELECT count(*) FROM sale WHERE amount = 3", "jit = off", "jit_above_cost = 0", ""),
    (
        "node-added", "SELECT count(*) FROM kind a, kind b WHERE a.id < b.id",
        "enable_material = off", "", "enable_indexscan = off; SET LOCAL enable_bitmapscan = off",
    ),
    ("partitions", "SELECT * FROM part WHERE day = 1", "enable_partition_pruning = off", "", ""),
)  # fmt: skip


BY_PARTITION = (
    "enable_partitionwise_join = on; SET LOCAL enable_partitionwise_aggregate = on;"
    "SET LOCAL enable_nestloop = off"
)
JOINED_PARTS = "SELECT p.day, count(*) FROM part p JOIN other o ON p.day = o.day GROUP BY p.day"
MERGED = "SELECT * FROM part ORDER BY value LIMIT 3"
OF_PARTITIONS = (
    (
        JOINED_PARTS, JOINED_PARTS, "enable_nestloop = off", BY_PARTITION,
        {"joins-by-partition", "groups-by-partition"},
    ),
    (
        JOINED_PARTS, JOINED_PARTS, f"{WORKERS}; SET LOCAL enable_nestloop = off",
        f"{WORKERS}; SET LOCAL {BY_PARTITION}", {"joins-by-partition", "groups-by-partition"},
    ),
    (MERGED, MERGED, "enable_indexscan = off", "", {"index-used"}),
    (
        "SELECT p.day, k.name FROM part p JOIN kind k ON k.id = p.value WHERE p.day = 1",
        "SELECT x.day, y.name FROM part x JOIN kind y ON y.id = x.value WHERE x.day = 1",
        NESTED, NOT_NESTED, set[str](),
    ),
)  # fmt: skip


@pytest.fixture
def session(lab_server: LabServer) -> Iterator[Connection]:
    with lab_server.admin() as session:
        for one in TABLES.split(";"):
            session.execute(one.encode())
        yield session
        session.execute("DROP TABLE kind, item, sale, part")


def explained(session: Connection, sql: str, *settings: str) -> Any:
    with session.transaction(force_rollback=True):
        session.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        for one in filter(None, settings):
            session.execute(f"SET LOCAL {one}".encode())
        asked = f"EXPLAIN (ANALYZE, TIMING OFF, BUFFERS, SETTINGS, FORMAT JSON) {sql}"
        return scalar(session, asked)


def change(one: Any, other: Any) -> PlanChange | None:
    return plan_change(top_of(one), top_of(other))


@on_every_version
def test_each_reason_is_found_and_the_same_plan_is_the_same(session: Connection) -> None:
    compiles = scalar(session, "SELECT pg_jit_available()")
    for code, sql, before, after, always in CASES:
        if code == "jit" and not compiles:
            continue
        one, other = (explained(session, sql, always, own) for own in (before, after))
        found = change(one, other)
        assert found is not None, code
        assert f"analysis/plans/{code}" in [each.code for each in found.reasons], found
        assert (shape_of(one).fingerprint == shape_of(other).fingerprint) == found.same_nodes
        assert (found.level.differs_at is None) == found.same_nodes
        again = explained(session, sql, always, before)
        assert change(one, again) is None, json.dumps([one, again])


@on_every_version
def test_an_estimate_that_is_right_with_statistics_is_named_beside_the_other_plan(
    session: Connection,
) -> None:
    wrong = explained(session, TWINS)
    session.execute("CREATE STATISTICS twins (dependencies) ON twin, kind FROM item")
    session.execute("ANALYZE item")
    found = change(wrong, explained(session, TWINS))
    assert found is not None
    assert not found.same_nodes
    assert found.level.misestimates == ()
    (misestimate,) = found.baseline.misestimates
    assert misestimate.values["actual"] == 200
    assert found.reasons[-1].values["was"] == misestimate


def test_tables_of_several_partitions_are_one_table_wherever_they_are_joined(
    session: Connection,
) -> None:
    session.execute("CREATE TABLE other (day int) PARTITION BY LIST (day)")
    for day in (1, 2, 3):
        session.execute(f"CREATE TABLE o{day} PARTITION OF other FOR VALUES IN ({day})".encode())
    session.execute("INSERT INTO other SELECT id % 3 + 1 FROM generate_series(1, 900) AS id")
    session.execute("CREATE INDEX ON part (value); ANALYZE part, other")
    of_tables = {f"analysis/plans/{one}" for one in ("table-unread", "table-left", "table-read")}
    for sql, other, before, after, codes in OF_PARTITIONS:
        found = change(explained(session, sql, before), explained(session, other, after))
        assert found is not None
        told = {each.code for each in found.reasons}
        assert told >= {f"analysis/plans/{one}" for one in codes}, found.reasons
        assert not told & of_tables, found.reasons
    session.execute("DROP TABLE other")
