"""`--json` prints the keys that docs/json.md lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.runs.command import pgassay
from support.runs.json_page import documented
from support.synthetic.directories import SPEC, synthetic_run


def printed(*arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pgassay(*arguments, "--json").stdout)
    return found


def test_the_keys_of_a_run_and_of_a_list_are_the_documented_ones(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "runs" / "run")
    found = printed("show", run.path)
    assert set(found) == documented("the run", found["schema"])
    assert set(found["verdicts"][0]) == documented("`verdicts[]`", found["schema"])
    (accounting,) = found["accounting"]
    assert set(accounting) == documented("`accounting[]`", found["schema"])
    for part in (accounting["whole"], *accounting["parts"]):
        assert set(part) == documented("`parts[]`", found["schema"])
    found = printed("list", tmp_path / "runs")
    assert set(found) == {"schema", "runs"}
    assert set(found["runs"][0]) == documented("`runs[]`", found["schema"])


def test_the_keys_of_a_plan_are_the_documented_ones(tmp_path: Path) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(SPEC + "[workload]\nuse = 'payments-write'\n")
    found = printed("plan", spec)
    only_at_times = {
        "generators",
        "guard",
        "parameters",
        "refused",
        "schema_variants",
        "server",
        "servers",
    }
    assert set(found) == documented("the plan", found["schema"]) - only_at_times


def test_the_keys_of_an_analysis_are_the_documented_ones(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    found = json.loads(pgassay("report", run.path, "--format", "json").stdout)
    assert set(found) == documented("the analysis", found["schema"])


def test_the_keys_of_doctors_checks_are_the_documented_ones() -> None:
    found = printed("doctor")
    assert set(found) == {"schema", "checks"}
    assert set(found["checks"][0]) == documented("`checks[]`", found["schema"])
