"""Plans of a load's statements on real servers: all that has a plan, and nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.analysis.reading.plan_shape import shape_of
from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.report.formats.html import render_html
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.connection.session import resolve
from pgassay.spec.parse import parse_spec
from pgassay.trials.plans.capture import plan_notes, plans_of_trial
from pgassay.workflows.reporting import analyse_run
from support.runs.command import pgassay, shop_workload
from support.servers.lab import LabServer, scalar
from support.servers.pool import on_every_version

SCRIPT = r"""
\set id random(1, 100)
BEGIN;
SELECT note FROM item WHERE id = :id AND note <> ':id';
DELETE FROM item WHERE id > :id;
INSERT INTO item SELECT :id, nextval('numbers')::text;
CREATE TABLE made (id int);
SELECT * FROM nowhere WHERE id = :id;
SELECT :id AS a, pg_typeof(:id) \gset
DELETE FROM item \; SELECT 1;
SELECT sum(value) FROM part WHERE day = :id;
COMMIT;
"""
SPEC = """
[workload]
use = "./shop"
[factors.client.settings]
enable_indexscan = [true, false]
[load.settings]
enable_bitmapscan = false
[design]
seed = 1
[sampling]
plans = {plans}
"""
TABLES = """
DROP TABLE IF EXISTS item, part;
DROP SEQUENCE IF EXISTS numbers;
CREATE TABLE item (id int PRIMARY KEY, note text);
INSERT INTO item SELECT id, 'note' FROM generate_series(1, 5000) AS id;
CREATE SEQUENCE numbers;
CREATE TABLE part (day int, value int) PARTITION BY LIST (day);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2);
ANALYZE item;
"""


@pytest.fixture
def tables(lab_server: LabServer) -> Iterator[LabServer]:
    with lab_server.admin() as session:
        session.execute(TABLES.encode())
    yield lab_server
    with lab_server.admin() as session:
        session.execute("DROP TABLE item, part; DROP SEQUENCE numbers")


def captured(folder: Path, dsn: str, *, plans: str = "true") -> dict[str, Any]:
    shop_workload(folder, SCRIPT)
    spec = parse_spec(SPEC.format(plans=plans), source="x.toml", beside=folder)
    plan = make_plan(spec)
    return plans_of_trial(spec, plan, {arm.id: resolve(dsn) for arm in plan.arms})


@on_every_version
def test_every_statement_is_planned_as_its_arms_sessions_would_and_none_is_executed(
    tables: LabServer, tmp_path: Path
) -> None:
    found = captured(tmp_path, tables.dsn())
    with tables.admin() as session:
        assert scalar(session, "SELECT count(*) FROM item") == 5000
        assert scalar(session, "SELECT is_called FROM numbers") is False
        assert scalar(session, "SELECT to_regclass('made') IS NULL")
    texts = {
        arm["arm"]: {
            one["line"]: "\n".join(shape_of(one["plan"]).text) if "plan" in one else one["reason"]
            for one in arm["statements"]
        }
        for arm in found["arms"]
    }
    with_index, without = texts.values()
    assert "Index Scan using item_pkey on item" in with_index[4]
    assert "Seq Scan on item" in without[4]
    assert with_index[5].startswith("Delete on item")
    assert with_index[6].startswith("Insert on item")
    assert with_index[3] == with_index[7] == "the server makes no plan for such a command"
    assert with_index[8] == 'relation "nowhere" does not exist'
    assert "could not determine data type" in with_index[9] or "pg_typeof" in with_index[9]
    assert "multiple commands" in with_index[10]
    if tables.cluster.installation.major >= 16:
        assert "part_1" in with_index[11]
        assert "part_2" in with_index[11]


def test_a_server_that_cannot_be_asked_is_one_line_and_plans_can_be_turned_off(
    tables: LabServer, tmp_path: Path
) -> None:
    with tables.admin() as session:
        session.execute("CREATE ROLE closed LOGIN PASSWORD 'x' CONNECTION LIMIT 0")
    try:
        closed = replace(resolve(tables.dsn()), user="closed", password="x")
        folder = tmp_path / "on"
        folder.mkdir()
        shop_workload(folder, SCRIPT)
        spec = parse_spec(SPEC.format(plans="true"), source="x.toml", beside=folder)
        plan = make_plan(spec)
        found = plans_of_trial(spec, plan, {arm.id: closed for arm in plan.arms})
        (note,) = plan_notes(found)
        assert note.code == "trials/plans/unreadable"
    finally:
        with tables.admin() as session:
            session.execute("DROP ROLE closed")
    folder = tmp_path / "off"
    folder.mkdir()
    assert captured(folder, tables.dsn(), plans="false") == {}


@pytest.mark.usefixtures("own_base")
def test_an_index_that_changes_a_plan_is_found_with_both_plans_and_the_statements_text(
    tmp_path: Path,
) -> None:
    shop_workload(tmp_path, "\\set id random(1, 20000)\nSELECT count(*) FROM item WHERE id = :id;")
    (tmp_path / "shop" / "data.sql").write_text(
        "INSERT INTO item SELECT generate_series(1, 20000);"
    )
    (tmp_path / "x.toml").write_text(
        "[workload]\nuse = './shop'\n"
        "[factors.schema.index]\nnone = ''\nby_id = 'CREATE INDEX item_by_id ON item (id)'\n"
        "[load]\nclients = 1\nrate = 100\nstep = '0.3s'\nwarmup = '0.1s'\n"
        "[design]\nmin_blocks = 2\nmax_blocks = 2\nseed = 1\n"
    )
    run = tmp_path / "run"
    done = pgassay("run", tmp_path / "x.toml", "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    context = analyse_run(RunDirectory.open(run))
    (finding,) = [
        one
        for one in context.findings
        if one.title == Note.of("findings/behaviour/plans/title", scenario="buy", line=2)
    ]
    assert finding.confidence == "supported"
    (use,) = [one for one in context.analysis.explanation.statement_use if "FROM item" in one.text]
    assert use.ranked == 1
    assert use.text == "SELECT count(*) FROM item WHERE id = $1"
    assert use.queryid in context.analysis.explanation.plans[0].queryids
    assert json.loads((run / "statements.json").read_text())["statements"][use.queryid] == use.text
    page = render_html(context)
    assert "Seq Scan on item" in page
    assert "item_by_id on item" in page
