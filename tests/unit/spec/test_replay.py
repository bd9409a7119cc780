"""A trace makes the step of a replay, and what does not fit it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pgassay.plan.design import make_plan
from pgassay.spec.load.trace_file import read_trace
from pgassay.spec.parse import load_spec
from pgassay.spec.stored import WORKLOAD_COPY, materials_to_json
from pgassay.trials.load.trace_rows import StatementNumbers
from support.load.traces import Row, write_trace
from support.refusals import refused

ROWS = [
    Row(0, 0, "connect"),
    Row(0, 1_000_000, "simple", "SELECT 1"),
    Row(1, 1_500_000, "simple", "SELECT 2", sqlstate="42P01"),
    Row(0, 2_000_000, "disconnect"),
    Row(2, 3_000_000, "extended", "SELECT $1", ["a"]),
    Row(1, 4_000_000, "simple", "SELECT 3"),
]
FILE = '[workload]\nuse = "payments"\n[load]\nreplay = "t.parquet"\n'


def written(folder: Path, more: str = "", rows: list[Row] = ROWS) -> Path:
    write_trace(folder / "t.parquet", rows, row_group=2)
    path = folder / "lab.toml"
    path.write_text(FILE + more)
    return path


def test_what_is_known_of_a_trace_is_counted_over_its_row_groups(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path).parent / "t.parquet")
    facts = trace.facts
    assert (facts.seconds, facts.statements, facts.sessions, facts.failed) == (4.0, 4, 3, 1)
    assert facts.at_once == 2
    assert list(trace.last_rows) == [3, 5, 4]


@pytest.mark.parametrize(
    ("speed", "seconds", "rate", "metric"),
    [("2", 2.0, 2.0, "response_mean"), ('"max"', 4.0, None, "tps")],
)
def test_a_replay_is_one_step_without_a_warm_up(
    tmp_path: Path, speed: str, seconds: float, rate: float | None, metric: str
) -> None:
    plan = make_plan(load_spec(written(tmp_path, f"speed = {speed}\n")))
    (step,) = plan.steps
    assert (step.clients, step.duration_s, step.rate, step.measured) == (2, seconds, rate, True)
    assert plan.metric == metric
    assert plan.replay is not None
    assert plan.replay.statements == 4


def test_a_stored_run_is_read_without_its_trace(tmp_path: Path) -> None:
    spec = load_spec(written(tmp_path))
    run = tmp_path / "run"
    run.mkdir()
    (run / "spec.toml").write_text(spec.text)
    (run / "plan.json").write_text("{}")
    (run / WORKLOAD_COPY).write_text(json.dumps(materials_to_json(spec)))
    (tmp_path / "t.parquet").unlink()
    assert load_spec(run / "spec.toml").trace == spec.trace


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("clients = 3\n", "not-with-replay"),
        ("rate = 5\n", "not-with-replay"),
        ("speed = 0\n", "speed-form"),
        ("speed = 101\n", "speed-form"),
        ('speed = "fast"\n', "speed-form"),
        ('[design]\nmode = "switchback"\n', "not-of-a-replay"),
        ('[factors.client]\nprotocol = ["simple", "prepared"]\n', "not-of-a-replay"),
        ('[design]\nmetric = "tps"\n', "metric-set-by-rate"),
    ],
)
def test_what_a_trace_decides_is_refused_beside_it(tmp_path: Path, more: str, code: str) -> None:
    path = written(tmp_path, more)
    with refused(code):
        load_spec(path)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([*ROWS, Row(3, 5_000_000, "simple", "SELECT 1", database="b")], "trace-of-databases"),
        ([*ROWS, Row(3, 5, "simple", "SELECT 1")], "trace-damaged"),
        ([*ROWS, Row(3, 5_000_000, "walk")], "trace-kind"),
        ([Row(0, 0, "connect")], "trace-empty"),
    ],
)
def test_a_trace_that_cannot_be_replayed_is_refused(
    tmp_path: Path, rows: list[Row], code: str
) -> None:
    path = written(tmp_path, rows=rows)
    with refused(code):
        load_spec(path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    trace = tmp_path / "t.parquet"
    table = pq.read_table(trace)
    for code in ("trace-of-no-version", "trace-column", "trace-unreadable", "trace-missing"):
        if code == "trace-of-no-version":
            pq.write_table(table.replace_schema_metadata(None), trace)
        elif code == "trace-column":
            pq.write_table(table.drop_columns(["name"]), trace)
        elif code == "trace-unreadable":
            trace.write_text("no")
        else:
            trace.unlink()
        with refused(code):
            load_spec(path)


def test_statements_that_differ_in_constants_have_one_number() -> None:
    numbers = StatementNumbers()
    found = [
        numbers.number(text)
        for text in (
            "SELECT a FROM t1 WHERE id = 5 AND b IN ('x', 'it''s')",
            "SELECT a FROM t1 WHERE id = 17 AND b IN ('y')",
            "SELECT a FROM t2 WHERE id = 17 AND b IN ('y')",
            "SELECT a FROM t1 WHERE id = $1",
            "SELECT a FROM t1 WHERE id = $2",
        )
    ]
    assert found == [0, 0, 1, 2, 3]
    assert numbers.words == ["SELECT"] * 4
