"""How often each query is executed follows from a first trial, and is the same in all blocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from pgassay.spec.parse import load_spec
from pgassay.trials.run.pilot import with_executions

MS = {"short": 0.2, "long": 100.0, "endless": None}


def plan_of(folder: Path, more: str) -> Plan:
    (folder / "q").mkdir()
    for name in MS:
        (folder / "q" / f"{name}.sql").write_text("SELECT 1")
    path = folder / "lab.toml"
    path.write_text(f'[workload]\nqueries = "q"\n{more}')
    return make_plan(load_spec(path))


def record(times: float, around_ms: float = 0.1) -> Any:
    rows, began_ms = [], 0.0
    for name, ms in MS.items():
        for discarded in (True, False, False, False):
            rows.append((name, began_ms * 1e6, ms and ms * times, discarded))
            began_ms += (ms or 0.0) * times + around_ms
    columns = zip(*rows, strict=True)
    names = ("query", "began_ns", "ms", "discarded")
    return SimpleNamespace(queries=dict(zip(names, columns, strict=True)))


@pytest.mark.parametrize(
    ("setting", "arms", "long"), [("max_wal_size", ["a1"], 5), ("work_mem", ["a1", "a2"], 3)]
)
def test_the_slowest_arm_at_hand_says_how_often(
    tmp_path: Path, setting: str, arms: list[str], long: int
) -> None:
    plan = plan_of(tmp_path, f'[factors.postgres]\n{setting} = ["64MB", "128MB"]\n')
    asked: list[PlannedTrial] = []

    def run(trials: Sequence[PlannedTrial]) -> list[Any]:
        asked.extend(trials)
        return [record(2.0 if one.arm == "a2" else 1.0) for one in trials]

    found = with_executions(plan, run)
    assert sorted(one.arm for one in asked) == arms
    assert all(not one.queries for one in asked)
    assert found.queries is not None
    assert dict(found.queries.chosen) == {"short": 500, "long": long, "endless": 3}
    assert {len(one.queries) for block in (1, 2) for one in found.block(block)} == {3}
    assert found.trial_s < plan.trial_s
    assert plan_from_json(plan_to_json(found)) == found
    assert same_design(found, plan)
    assert with_executions(found, run) is found


def test_what_is_around_an_execution_takes_no_longer_than_all_of_a_long_query(
    tmp_path: Path,
) -> None:
    found = with_executions(plan_of(tmp_path, ""), lambda _: [record(1.0, around_ms=9.8)])
    assert found.queries is not None
    assert dict(found.queries.chosen) == {"short": 100, "long": 5, "endless": 3}


def test_the_queries_of_a_large_set_share_ten_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "MS", {f"q{number}": 10.0 for number in range(40)})
    found = with_executions(plan_of(tmp_path, ""), lambda _: [record(1.0)])
    assert found.queries is not None
    assert set(found.queries.chosen.values()) == {25}


def test_a_number_in_the_file_stays_and_takes_no_trial(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "[load]\nrepeats = 7\n")
    assert with_executions(plan, lambda _: pytest.fail("a trial was run")) is plan
    assert plan.queries is not None
    assert plan.queries.repeats == 7
