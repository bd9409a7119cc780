"""Queries are executed, and whatever they do is a fact of theirs and nothing of it stays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest

from pgassay.server.connection.session import resolve
from pgassay.server.data.varied_objects import hiding, make_levels
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import parameter_file
from pgassay.trials.load.query_set.load import QueryLoad, QueryRequest
from pgassay.trials.load.query_set.runner import ArmQueries
from pgassay.trials.load.query_set.session import QuerySession
from pgassay.trials.load.query_set.texts import sent
from support.servers.lab import LabServer, wait_until
from support.servers.pool import on_every_version

SECRET = "4111-1111"
TABLES = """
DROP TABLE IF EXISTS item; CREATE TABLE item AS SELECT n AS id, n % 7 AS kind, 'x' || n AS card
FROM generate_series(1, 2000) AS n; INSERT INTO item VALUES (0, 0, '4111-1111'); ANALYZE item;
ALTER TABLE item SET (autovacuum_enabled = off);
CREATE OR REPLACE FUNCTION sold() RETURNS int LANGUAGE sql AS
'INSERT INTO item VALUES (-1); SELECT 1';
CREATE OR REPLACE PROCEDURE commits() LANGUAGE plpgsql AS
'BEGIN COMMIT; INSERT INTO item VALUES (-2); COMMIT; END';
"""
UNENDING = """
DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;
END $$
"""
AS_IT_WAS = """
SELECT (SELECT md5(string_agg(item::text, ' ' ORDER BY id)) FROM item),
       (SELECT md5(string_agg(concat(oid, relfilenode, relpages, reltuples), ' ' ORDER BY oid))
          FROM pg_class WHERE relnamespace = 'public'::regnamespace),
       (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_db_role_setting)
"""
QUERIES = {
    "plain": "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY random()",
    "many-rows": "SELECT n, repeat('x', 20) FROM generate_series(1, 100000) AS n",
    "two": "SELECT 1; SELECT * FROM item",
    "temp": "CREATE TEMP TABLE t AS SELECT 1; SELECT * FROM t",
    "writes": "SELECT sold()",
    "locks": "SELECT * FROM item WHERE id = 1 FOR UPDATE",
    "insists": "SELECT set_config('transaction_read_only', 'off', false), sold()",
    "block-writes": "DO $$ BEGIN DELETE FROM item; END $$",
    "explained": "EXPLAIN ANALYZE DELETE FROM item",
    "read-write": "SET transaction_read_only = off; SELECT sold()",
    "block-commits": "DO $$ BEGIN COMMIT; DELETE FROM item; END $$",
    "commits": "CALL commits()",
    "concurrently": "CREATE INDEX CONCURRENTLY ON item (id)",
    "system": "ALTER SYSTEM SET work_mem = '5MB'",
    "cursor": "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM item; FETCH 10 FROM c",
    "hears": "LISTEN x",
    "keeps-lock": "SELECT pg_advisory_lock(1)",
    "sets": "SET work_mem = '1GB'; SELECT ';' FROM item",
    "other-role": "SET SESSION AUTHORIZATION plain; SELECT now()",
    "endless": "SELECT pg_sleep(60)",
    "wrong": "SELECT no_such_column FROM item",
    "by-card": "SELECT id FROM item WHERE card = :card",
    "no-number": "SELECT id FROM item WHERE id = :card::text::int",
}
FAILS = {
    "endless": {"57014"}, "wrong": {"42703"}, "no-number": {"22P02"},
    "block-commits": {"2D000"}, "commits": {"2D000"}, "concurrently": {"25001"},
    "system": {"25001"},
}  # fmt: skip
FAILS_READ_ONLY = {
    "temp", "writes", "locks", "insists", "block-writes", "explained", "concurrently",
}  # fmt: skip


def request(
    queries: Mapping[str, str] = QUERIES, folder: Path | None = None, **given: Any
) -> QueryRequest:
    def scenario(name: str, text: str) -> Scenario:
        rows = None
        if ":card" in text and folder is not None:
            (folder / "rows.csv").write_text(f"card\n{SECRET}\n")
            rows = parameter_file(folder / "rows.csv", "random")
        return Scenario(name, f"{name}.sql", text, 1.0, parameters=rows)

    scenarios = [scenario(*one) for one in queries.items()]
    texts = {one.name: sent(one) for one in scenarios}
    usual: dict[str, Any] = {
        "arms": [ArmQueries("a1", texts)],
        "clients": 1,
        "repeats": dict.fromkeys(queries, 2),
        "timeout_s": 1.0,
        "is_warm": True,
        "reads_only": True,
        "seed": 7,
    }
    return QueryRequest(scenarios=scenarios, **(usual | given))


@pytest.fixture
def dsn(lab_server: LabServer) -> str:
    with psycopg.connect(lab_server.dsn(), autocommit=True) as session:
        session.execute(TABLES)
    return lab_server.dsn()


def as_it_is(dsn: str) -> object:
    with psycopg.connect(dsn) as session:
        return session.execute(AS_IT_WAS).fetchone()


@on_every_version
@pytest.mark.parametrize("reads_only", [True, False])
def test_hostile_queries_fail_alone_and_leave_nothing(
    dsn: str, tmp_path: Path, reads_only: bool
) -> None:
    before = as_it_is(dsn)
    load = QueryLoad(request(folder=tmp_path, reads_only=reads_only), resolve(dsn))
    result = load.run(lambda _: None)
    codes = {one["name"]: set(one["errors"]) for one in result["scenarios"]}
    expected = {name: set[str]() for name in QUERIES} | FAILS
    if reads_only:
        expected |= {name: {"25006"} for name in FAILS_READ_ONLY} | {
            "insists": {"25001"},
            "read-write": {"25001"},
        }
    assert codes == expected
    assert as_it_is(dsn) == before
    stored = load.stored()
    rows = dict(zip(stored["queries"]["query"], stored["queries"]["rows"], strict=True))
    assert (rows["plain"], rows["many-rows"], rows["two"]) == (7, 100_000, 2002)
    assert SECRET not in json.dumps([stored, result])
    assert "InvalidTextRepresentation" in json.dumps(stored)
    plans = {one["query"]: one for one in stored["query_plans"]["queries"]}
    assert plans["by-card"]["plan"][0]["Plan"]["Filter"] == "(card = ?::text)"
    assert plans["by-card"]["costs"]["hit"] > 0
    assert plans["many-rows"]["costs"]["rows"] == 100_000
    assert "plan" not in plans["two"]
    assert result["transactions"] + result["failed"] == len(stored["queries"]["ms"])
    assert sum(load.intervals()["transactions"]) == result["transactions"]


def active(session: psycopg.Connection[Any], load: QueryLoad) -> bool:
    found = session.execute(
        "SELECT FROM pg_stat_activity WHERE pid = ANY (%s) AND state = 'active'",
        (list(load.backends),),
    )
    return bool(found.fetchall())


def test_advisory_locks_end_with_the_execution_that_took_them(dsn: str) -> None:
    session = QuerySession(resolve(dsn), Event(), timeout_s=5, reads_only=True)
    try:
        for text in (b"SELECT pg_advisory_lock(1)", b"SELECT pg_advisory_lock(2), 1 / 0"):
            session.execute(text, (), {})
        with psycopg.connect(dsn) as other:
            locks = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = %s"
            assert other.execute(locks, (session.pid,)).fetchall() == []
    finally:
        session.close()


def test_arms_of_a_session_alternate_and_have_their_settings(dsn: str) -> None:
    queries = {"shown": "SELECT 1 / (current_setting('work_mem') = '5MB')::int"}
    asked = request(queries)
    texts = asked.arms[0].queries
    arms = [ArmQueries(f"a{mb}", texts, {"work_mem": f"{mb}MB"}) for mb in (4, 5)]
    load = QueryLoad(request(queries, arms=arms, clients=2), resolve(dsn))
    load.run(lambda _: None)
    rows = load.stored()["queries"]
    failed = {(arm, code) for arm, code in zip(rows["arm"], rows["sqlstate"], strict=True) if code}
    assert failed == {("a4", "22012")}
    assert rows["arm"].count("a5") == 6


TOASTED = """
DROP TABLE IF EXISTS page; CREATE TABLE page (id int, body text);
ALTER TABLE page ALTER body SET STORAGE EXTERNAL, SET (autovacuum_enabled = off);
INSERT INTO page SELECT n, repeat(n::text, 9000) FROM generate_series(1, 90) AS n;
"""


@on_every_version
def test_a_warm_query_has_read_what_lies_apart_from_its_rows(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(TOASTED)
        explains = session.info.server_version >= 170_000
    queries = {"wide": "SELECT id, body FROM page"}
    load = QueryLoad(request(queries), resolve(dsn))
    load.run(lambda _: None)
    stored = load.stored()
    (planned,) = stored["query_plans"]["queries"]
    assert (planned["costs"]["hit"] > 90) == explains
    rows, discarded = (stored["queries"][name] for name in ("rows", "discarded"))
    assert rows == ([None, 90, 90] if explains else [None, 90, 90, 90])
    assert discarded.index(False) == (1 if explains else 2), "a plain one before those that count"
    load = QueryLoad(request(queries, explains_output=False), resolve(dsn))
    load.run(lambda _: None)
    (planned,) = load.stored()["query_plans"]["queries"]
    assert planned["costs"]["hit"] < 90, "as a server that cannot, which it is compared with"


def test_answers_are_the_same_in_any_order_and_differ_where_a_row_does(dsn: str) -> None:
    texts = (
        "SELECT id, kind, 0.1::float8 * kind FROM item ORDER BY id",
        "SELECT id, kind, 0.1::float8 * kind * (1 + 1e-15) FROM item ORDER BY kind",
        "SELECT id, kind + (id = 9)::int, 0.1::float8 * kind FROM item",
        "SELECT id, nullif(kind, 3), 0.1::float8 * kind FROM item",
    )
    arms = [
        ArmQueries(f"a{at}", request({"one": one}).arms[0].queries) for at, one in enumerate(texts)
    ]
    asked = request({"one": texts[0]}, arms=arms, answers={"one"}, clients=2)
    load = QueryLoad(asked, resolve(dsn))
    load.run(lambda _: None)
    stored = load.stored()
    one, same, *others = (each["answer"] for each in stored["query_plans"]["queries"])
    assert same == one
    assert len({one, *others}) == 3
    assert stored["queries"]["discarded"].count(True) == 4 * 3, "one session takes the answers"


def test_arms_that_take_values_in_another_order_take_the_same(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("low,high\n1,5\n")
    rows = parameter_file(tmp_path / "rows.csv", "random")
    texts = (
        "SELECT id FROM item WHERE id >= :low::int AND id <= :high::int",
        "SELECT id FROM item WHERE id <= :high::int AND id >= :low::int",
    )
    given = [Scenario("one", "one.sql", text, 1.0, parameters=rows) for text in texts]
    arms = [ArmQueries(f"a{at}", {"one": sent(one)}) for at, one in enumerate(given)]
    asked = replace(request({"one": "SELECT 1"}, arms=arms, answers={"one"}), scenarios=given[:1])
    load = QueryLoad(asked, resolve(dsn))
    load.run(lambda _: None)
    stored = load.stored()
    assert {count for count in stored["queries"]["rows"] if count is not None} == {5}
    assert len({one["answer"] for one in stored["query_plans"]["queries"]}) == 1


def found_by(plan: Any) -> set[str]:
    """The names of indexes in a plan."""
    own = {plan[key] for key in ("Index Name",) if key in plan}
    return own.union(*map(found_by, plan.get("Plans", ())))


@on_every_version
def test_an_arm_has_its_own_indexes_alone_and_all_are_there_afterwards(dsn: str) -> None:
    levels = {
        "one": "CREATE INDEX ON item (kind); CREATE UNIQUE INDEX by_id ON item (id);"
        "CREATE INDEX ON part (n)",
        "two": "CREATE STATISTICS ON_KIND (dependencies) ON id, kind FROM item;"
        'CREATE INDEX "by ""%{}" ON item ((kind * 2))',
    }
    queries = {
        "unique": "SELECT * FROM item WHERE id = 7",
        "expression": "SELECT * FROM item WHERE kind * 2 = -1",
        "part": "SELECT * FROM part WHERE n = 7",
        "several": "SELECT * FROM item WHERE id = 7; SELECT 1",
    }
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(
            "DROP TABLE IF EXISTS part; CREATE TABLE part (n int) PARTITION BY RANGE (n);"
            "CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (9000);"
            "INSERT INTO part SELECT generate_series(1, 8000); ANALYZE part"
        )
        made = make_levels(session, levels)
        session.execute("VACUUM")
    assert [one.kind for one in made["two"].objects] == ["INDEX", "STATISTICS"]
    assert made["one"].bytes > 0
    every = [one for level in made.values() for one in level.objects]
    texts = request(queries).arms[0].queries
    costs = ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size")
    parallel = dict.fromkeys(costs, "0")
    arms = [
        ArmQueries("none", texts, parallel, hiding(every, ())),
        *(ArmQueries(name, texts, {}, hiding(every, made[name].objects)) for name in levels),
    ]
    before = as_it_is(dsn)
    asked = request(queries, arms=arms, reads_only=False, timeout_s=30.0)
    load = QueryLoad(asked, resolve(dsn))
    assert load.run(lambda _: None)["failed"] == 0
    assert as_it_is(dsn) == before
    plans = {
        (one["arm"], one["query"]): one["plan"][0]["Plan"]
        for one in load.stored()["query_plans"]["queries"]
        if "plan" in one
    }
    used = {key: found_by(plan) for key, plan in plans.items()}
    assert {key for key, names in used.items() if names} == {
        ("one", "unique"),
        ("one", "part"),
        ("two", "expression"),
    }
    assert used["two", "expression"] == {'by "%{}'}
    assert "Gather" in plans["none", "unique"]["Node Type"]
    with psycopg.connect(dsn) as session:
        kinds = "SELECT count(*) FROM pg_class WHERE oid = ANY (%s)"
        indexes = [one.oid for one in every if one.kind == "INDEX"]
        assert session.execute(kinds, [indexes]).fetchone() == (4,)
        assert session.execute("SELECT count(*) FROM pg_statistic_ext").fetchone() == (1,)


def test_what_loses_its_connection_is_named_and_ended(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgassay.trials.load.query_set.session._GRACE_S", 0.2)
    queries = {"a-wrong": "SELECT x", "b-stays": UNENDING}
    load = QueryLoad(request(queries, timeout_s=0.2), resolve(dsn))
    result = load.run(lambda _: None)
    assert (result["lost_connections"], result["first_error"]["scenario"]) == (1, "b-stays")
    with psycopg.connect(dsn, autocommit=True) as session:
        wait_until(lambda: not active(session, load), "the query has ended")


def test_a_load_that_is_interrupted_leaves_no_query_behind(dsn: str) -> None:
    def interrupt(progress: Mapping[str, Any]) -> None:
        raise KeyboardInterrupt

    load = QueryLoad(request({"long": "SELECT pg_sleep(60)"}, timeout_s=50.0), resolve(dsn))
    with pytest.raises(KeyboardInterrupt):
        load.run(interrupt)
    with psycopg.connect(dsn) as session:
        assert not active(session, load)
