"""A folder of queries makes the load, and what is no query set is refused with its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.spec.parse import load_spec
from pgassay.spec.stored import WORKLOAD_COPY, materials_to_json, stored_materials
from support.refusals import refused

FILE = '[workload]\nqueries = "q"\n'
WRITES = f'{FILE}writes = "payments"\n'


def written(folder: Path, files: dict[str, str], text: str = FILE) -> Path:
    (folder / "q").mkdir()
    for name, content in files.items():
        (folder / "q" / name).write_text(content)
    path = folder / "lab.toml"
    path.write_text(text)
    return path


def test_files_and_name_lines_make_the_queries_of_one_step(tmp_path: Path) -> None:
    files = {
        "q7.sql": "SELECT :x;\n",
        "q7.csv": "x\n1\n",
        "all.sql": "-- by hand\n-- name: top\n-- calls: 1200\nSELECT 1;\n\n"
        "-- name: low\nSELECT random();\n",
        "notes.txt": "left alone",
    }
    spec = load_spec(written(tmp_path, files, f"{FILE}[load]\ntimeout = '100ms'\n"))
    found = {one.name: one.script.strip() for one in spec.workload.scenarios}
    top = "-- calls: 1200\nSELECT 1;"
    assert found == {"low": "SELECT random();", "q7": "SELECT :x;", "top": top}
    assert [one.parameters is not None for one in spec.workload.scenarios] == [False, True, False]
    plan = make_plan(spec)
    (step,) = plan.steps
    assert (step.clients, step.measured) == (1, True)
    assert step.duration_s == pytest.approx(3 * 4 * 0.1)
    assert (plan.metric, plan.endpoints) == ("queries_mean", ())
    assert plan.queries is not None
    assert (plan.queries.calls, plan.queries.parameters) == ({"top": 1200.0}, ("q7",))
    assert plan_from_json(plan_to_json(plan)) == plan
    assert "low (random())" in " ".join(map(str, plan.notes))


FOLDERS = '[factors.workload]\nqueries = ["main", "pr"]\n'


def in_folders(folder: Path, *files: dict[str, str]) -> Path:
    for name, own in zip(("main", "pr"), files, strict=True):
        (folder / name).mkdir()
        for file, content in own.items():
            (folder / name / file).write_text(content)
    (folder / "lab.toml").write_text(FOLDERS)
    return folder / "lab.toml"


def test_folders_of_which_nothing_can_be_compared_are_refused(tmp_path: Path) -> None:
    cases = (
        ("no-common-queries", {"a.sql": "SELECT 1"}, {"b.sql": "SELECT 1"}),
        ("same-queries", {"a.sql": "SELECT 1"}, {"a.sql": "SELECT 1"}),
        (
            "other-parameters",
            {"a.sql": "SELECT :x", "a.csv": "x\n1\n"},
            {"a.sql": "SELECT 0 + :x", "a.csv": "x\n2\n"},
        ),
    )
    for code, *files in cases:
        (tmp_path / code).mkdir()
        path = in_folders(tmp_path / code, *files)
        with refused(code, "factors.workload.queries"):
            load_spec(path)
    path.write_text(f"{FILE}{FOLDERS}")
    with refused("also-given-as", "factors.workload.queries"):
        load_spec(path)


def test_a_stored_run_of_folders_has_the_queries_of_both(tmp_path: Path) -> None:
    one, other = {"a.sql": "SELECT :x", "a.csv": "x\n1\n"}, {"a.sql": "SELECT 0 + :x"}
    spec = load_spec(in_folders(tmp_path, one, other), seed=1)
    (tmp_path / WORKLOAD_COPY).write_text(json.dumps(materials_to_json(spec)))
    stored = stored_materials(tmp_path / WORKLOAD_COPY)
    assert (stored.workload, stored.variants) == (spec.workload, spec.variants)
    assert stored.variants.queries is not None
    assert stored.variants.queries.compared["pr"][0].parameters is not None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("GetUser :one", "GetUser"),
        ("list-users :many", "list-users"),
        ("get_user^", "get_user"),
        ("get_user(id)$", "get_user"),
        ("add_user<!", "add_user"),
        ("add.users*!", "add.users"),
        ("plain", "plain"),
    ],
)
def test_names_may_be_written_as_for_sqlc_and_aiosql(tmp_path: Path, line: str, name: str) -> None:
    spec = load_spec(written(tmp_path, {"a.sql": f"-- name: {line}\nSELECT 1;\n"}))
    assert [one.name for one in spec.workload.scenarios] == [name]


def test_a_folder_with_sql_alone_is_data_for_queries(tmp_path: Path) -> None:
    path = written(tmp_path, {"a.sql": "SELECT 1"}, f'{FILE}use = "./db"\n')
    (tmp_path / "db").mkdir()
    with refused("no-such-workload"):
        load_spec(path)
    (tmp_path / "db" / "data.sql").write_text("CREATE TABLE t AS SELECT :scale AS i")
    found = load_spec(path).workload
    assert (found.name, found.schema_sql) == ("db", "")
    assert found.building_sql(3)[1] == "CREATE TABLE t AS SELECT 3 AS i"
    path.write_text('[workload]\nuse = "./db"\n')
    with refused("no-such-workload"):
        load_spec(path)


def test_a_stored_run_has_the_queries_without_their_folder(tmp_path: Path) -> None:
    spec = load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, WRITES), seed=1)
    run = tmp_path / "run"
    run.mkdir()
    (run / "spec.toml").write_text(spec.text)
    (run / "plan.json").write_text("{}")
    (run / WORKLOAD_COPY).write_text(json.dumps(materials_to_json(spec)))
    (tmp_path / "q" / "a.sql").unlink()
    stored = load_spec(run / "spec.toml", seed=1)
    assert stored.workload.scenarios == spec.workload.scenarios
    assert stored.file.load == spec.file.load
    assert stored.writes == spec.writes is not None


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a.txt": "SELECT 1"}, "no-queries"),
        ({"a.sql": "SELECT 1", "b.sql": "-- name: a\nSELECT 2"}, "query-twice"),
        ({"a.sql": "SELECT 1;\n-- name: b\nSELECT 2"}, "query-before-names"),
        ({"a.sql": "-- calls: many\nSELECT 1"}, "query-calls-form"),
        ({"my query.sql": "SELECT 1"}, "query-name-form"),
        ({"a.sql": "SELECT 1", "b.csv": "x\n1\n"}, "parameters-of-no-query"),
        ({"a.sql": "SELECT '" + "x" * 2**20 + "'"}, "query-too-large"),
        ({"a.sql": "ALTER ROLE r PASSWORD 'x'"}, "password-in-sql"),
        ({f"q{n}.sql": "SELECT 1" for n in range(501)}, "too-many-queries"),
    ],
)
def test_what_is_no_query_set_is_refused(tmp_path: Path, files: dict[str, str], code: str) -> None:
    with refused(code):
        load_spec(written(tmp_path, files))


@pytest.mark.parametrize(
    ("more", "code", "key"),
    [
        ("[load]\nrate = 5\n", "not-with-queries", "load.rate"),
        ("[load]\nclients = [1, 2]\n", "not-with-queries", "load.clients"),
        ("[factors.client]\nthreads = [1, 2]\n", "not-with-queries", "factors.client.threads"),
        ('[design]\nmode = "duet"\n', "not-with-queries", "design.mode"),
        ('[design]\nmetric = "tps"\n', "queries-have-their-metric", "design.metric"),
        ('[design]\nendpoints = ["a.mean"]\n', "endpoint-of-a-query", "design.endpoints"),
        ('[design]\nendpoints = ["p99"]\n', "endpoint-of-all-queries", "design.endpoints"),
        ('[load]\ncaches = "cold"\n', "cold-queries-of-warm-trials", "load.caches"),
        ("[load]\nstep = 5\n", "not-with-queries", "load.step"),
        ('setup = ["true"]\n[target]\ndsn = ""\n', "setup-of-an-existing-server", None),
        ('[target]\ndsn = ""\nbackup_rate = "1MB"\n', "for-a-copy-alone", "target.backup_rate"),
    ],
)
def test_what_a_query_set_cannot_give_is_refused(
    tmp_path: Path, more: str, code: str, key: str | None
) -> None:
    with refused(code, key):
        load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, FILE + more))


def test_writes_follow_the_queries_in_blocks_and_have_a_verdict(tmp_path: Path) -> None:
    more = '[load]\nstep = 4\n[factors.postgres]\nwork_mem = ["4MB", "64MB"]\n'
    spec = load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, WRITES + more))
    assert spec.workload.name == "payments", "the data are those of the writes"
    assert spec.writes is not None
    plan = make_plan(spec)
    assert (plan.mode, plan.together) == ("blocks", False)
    assert [(one.metric, one.margin) for one in plan.endpoints] == [("writes_tps", 0.05)]
    assert plan.queries is not None
    assert plan.queries.writes_s == pytest.approx(4 + 2)
    assert plan_from_json(plan_to_json(plan)) == plan


@pytest.mark.parametrize("more", ['[reset]\nlevel = "none"\n', '[target]\ndsn = "service=mine"\n'])
def test_writes_take_a_reset_that_puts_the_data_back(tmp_path: Path, more: str) -> None:
    with refused("writes-without-snapshot", "workload.writes"):
        load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, WRITES + more))


def test_the_endpoint_of_writes_needs_writes(tmp_path: Path) -> None:
    more = '[design]\nendpoints = ["writes.tps"]\n'
    with refused("endpoint-of-no-writes", "design.endpoints"):
        make_plan(load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, FILE + more)))


def test_its_keys_are_refused_without_a_query_set(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text('[workload]\nuse = "payments"\n[load]\nrepeats = 2\n')
    with refused("not-without-queries", "load.repeats"):
        load_spec(path)
    path.write_text('[workload]\nuse = "payments"\nwrites = "payments"\n')
    with refused("not-without-queries", "workload.writes"):
        load_spec(path)
    path.write_text('[workload]\nuse = "payments"\n[design]\nmetric = "queries_mean"\n')
    with refused("queries-have-their-metric"):
        load_spec(path)


@pytest.mark.parametrize(
    ("more", "mode", "together"),
    [
        ('[factors.postgres]\nwork_mem = ["4MB", "64MB"]\n', "switchback", True),
        ('[factors.scenarios]\na = ["", "b.sql"]\n', "switchback", True),
        ('[factors.postgres]\nmax_wal_size = ["1GB", "2GB"]\n', "blocks", False),
        (
            '[factors.schema]\ni = ["", "CREATE INDEX ON t (a)"]\n'
            '[factors.postgres]\nwork_mem = ["4MB", "64MB"]\n',
            "switchback",
            True,
        ),
        (
            '[factors.postgres]\njit = ["on", "off"]\n'
            '[load]\ncaches = "cold"\n[reset]\ncaches = "cold"\n',
            "blocks",
            False,
        ),
        (
            '[factors.postgres]\nwork_mem = ["4MB", "64MB"]\n[design]\nmode = "blocks"\n',
            "blocks",
            False,
        ),
    ],
)
def test_arms_that_a_session_can_set_run_at_once(
    tmp_path: Path, more: str, mode: str, together: bool
) -> None:
    (tmp_path / "b.sql").write_text("SELECT 2")
    spec = load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, FILE + more))
    plan = make_plan(spec)
    assert (plan.mode, plan.together, plan.alternates) == (mode, together, False)
    assert len(plan.block(1)) == len(plan.arms)
    assert plan.plots == "complete"
    assert plan_from_json(plan_to_json(plan)) == plan
    stored = load_spec(tmp_path / "lab.toml", mode=plan.mode)
    assert make_plan(stored).mode == mode


def test_blocks_that_are_asked_for_as_a_switchback_say_why_not(tmp_path: Path) -> None:
    more = '[factors.postgres]\nmax_wal_size = ["1GB", "2GB"]\n[design]\nmode = "switchback"\n'
    with refused("mode-not-valid"):
        make_plan(load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, FILE + more)))


@pytest.mark.parametrize(
    ("levels", "more", "code"),
    [
        (["CREATE INDEX ON t (a); ANALYZE t"], "", "more-than-objects"),
        (["CREATE INDEX IF NOT EXISTS i ON t (a)"], "", "more-than-objects"),
        (["CREATE INDEX i ON t (a)", "CREATE UNIQUE INDEX I ON t (b)"], "", "objects-of-one-name"),
        (["CREATE INDEX ON t (a)"], "[load]\nclients = 2\n", "hides-from-other-sessions"),
        (
            [{"sql": "CREATE INDEX i ON t (a)", "undo": "DROP INDEX i"}],
            '[target]\ndsn = "service=mine"\nallow_changes = true\n[reset]\nlevel = "none"\n',
            "hides-on-the-users-server",
        ),
    ],
)
def test_an_index_that_cannot_be_hidden_is_compared_in_blocks_with_the_reason(
    tmp_path: Path, levels: list[object], more: str, code: str
) -> None:
    table = "".join(
        f"l{number} = {json.dumps(one) if isinstance(one, str) else as_table(one)}\n"
        for number, one in enumerate(["", *levels])
    )
    text = f'{FILE}use = "payments"\n{more}[factors.schema.i]\n{table}'
    plan = make_plan(load_spec(written(tmp_path, {"a.sql": "SELECT 1"}, text)))
    assert (plan.mode, plan.together) == ("blocks", False)
    assert plan.mode_reason is not None
    problem = plan.mode_reason.values["problem"]
    assert isinstance(problem, Note)
    inner = problem.values.get("problem", problem)
    assert isinstance(inner, Note)
    assert inner.code == f"plan/{code}"


def as_table(level: object) -> str:
    assert isinstance(level, dict)
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in level.items()) + "}"
