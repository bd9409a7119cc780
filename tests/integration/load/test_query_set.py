"""Queries are executed, and whatever they do is a fact of theirs and nothing of it stays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgassay.server.connection.session import resolve
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import parameter_file
from pgassay.trials.load.query_set.load import QueryLoad, QueryRequest
from pgassay.trials.load.query_set.runner import ArmQueries
from pgassay.trials.load.query_set.texts import sent
from support.servers.lab import LabServer
from support.servers.pool import on_every_version

SECRET = "4111-1111"
TABLES = """
DROP TABLE IF EXISTS item; CREATE TABLE item AS SELECT n AS id, n % 7 AS kind, 'x' || n AS card
FROM generate_series(1, 2000) AS n; INSERT INTO item VALUES (0, 0, '4111-1111'); ANALYZE item;
CREATE OR REPLACE FUNCTION sold() RETURNS int LANGUAGE sql AS
'INSERT INTO item VALUES (-1); SELECT 1';
"""
QUERIES = {
    "plain": "SELECT kind, count(*) FROM item GROUP BY kind ORDER BY random()",
    "many-rows": "SELECT n, repeat('x', 20) FROM generate_series(1, 100000) AS n",
    "two": "SELECT 1; SELECT * FROM item",
    "temp": "CREATE TEMP TABLE t AS SELECT 1; SELECT * FROM t",
    "writes": "SELECT sold()",
    "locks": "SELECT * FROM item WHERE id = 1 FOR UPDATE",
    "insists": "SELECT set_config('transaction_read_only', 'off', false), sold()",
    "endless": "SELECT pg_sleep(60)",
    "wrong": "SELECT no_such_column FROM item",
    "by-card": "SELECT id FROM item WHERE card = :card",
    "no-number": "SELECT id FROM item WHERE id = :card::text::int",
}
FAILS_READ_ONLY = {"temp", "writes", "locks", "insists"}


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


def items(dsn: str) -> int:
    with psycopg.connect(dsn) as session:
        (count,) = session.execute("SELECT count(*) FROM item").fetchone() or (0,)
    return int(count)


@on_every_version
@pytest.mark.parametrize("reads_only", [True, False])
def test_hostile_queries_fail_alone_and_leave_nothing(
    dsn: str, tmp_path: Path, reads_only: bool
) -> None:
    load = QueryLoad(request(folder=tmp_path, reads_only=reads_only), resolve(dsn))
    result = load.run(lambda _: None)
    codes = {one["name"]: set(one["errors"]) for one in result["scenarios"]}
    expected = {name: set[str]() for name in QUERIES}
    expected |= {"endless": {"57014"}, "wrong": {"42703"}, "no-number": {"22P02"}}
    if reads_only:
        expected |= {name: {"25006"} for name in FAILS_READ_ONLY} | {"insists": {"25001"}}
    assert codes == expected
    assert items(dsn) == 2001
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


def test_a_load_that_is_interrupted_leaves_no_query_behind(dsn: str) -> None:
    def interrupt(progress: Mapping[str, Any]) -> None:
        raise KeyboardInterrupt

    load = QueryLoad(request({"long": "SELECT pg_sleep(60)"}, timeout_s=50.0), resolve(dsn))
    with pytest.raises(KeyboardInterrupt):
        load.run(interrupt)
    with psycopg.connect(dsn) as session:
        left = session.execute(
            "SELECT pid FROM pg_stat_activity WHERE pid = ANY (%s) AND state = 'active'",
            (list(load.backends),),
        ).fetchall()
    assert left == []
