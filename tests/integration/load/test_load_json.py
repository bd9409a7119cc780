"""`pgassay load --json` prints the keys that docs/json.md lists."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pgassay.trials.model.columns import LOAD
from support.runs.command import pgassay
from support.runs.json_page import documented
from support.servers.lab import LabServer

SLICES = '[[variants]]\nname = "a"\n[[variants]]\nname = "b"\nlength = "250ms"\n'


def keys(objects: list[dict[str, Any]]) -> set[str]:
    """Every key that at least one object has."""
    return {key for one in objects for key in one}


@pytest.fixture(scope="module")
def environment(lab_server: LabServer) -> dict[str, str]:
    found = lab_server.variables()
    done = pgassay("init", "-q", "--drop", **found)
    assert done.returncode == 0, done.stderr
    return found


def answer(environment: dict[str, str], *arguments: str | Path) -> dict[str, Any]:
    done = pgassay("load", "-n", "--json", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_key_of_a_load_is_documented_and_every_documented_key_is_there(
    environment: dict[str, str], tmp_path: Path
) -> None:
    slices = tmp_path / "slices.toml"
    slices.write_text(SLICES)
    wrong = tmp_path / "wrong.sql"
    wrong.write_text("SELECT 1/0;\n")
    loads = [
        answer(environment, "-S", "-c", "2", "-T", "0.6", "-R", "50", "-r", "--warmup", "200ms"),
        answer(environment, "-S", "-T", "2", "--slices", slices),
        answer(environment, "-S", "-f", wrong, "-t", "9", "-c", "3", "--continue-on-error"),
    ]
    assert keys(loads) == documented("the load")
    for name in ("server", "asked"):
        assert keys([load[name] for load in loads]) == documented(f"`{name}`")
    for name in ("scenarios", "steps", "intervals", "slices", "variants"):
        found = [one for load in loads for one in load.get(name, [])]
        assert keys(found) == documented(f"`{name}[]`"), name
    statements = [one for load in loads for s in load["scenarios"] for one in s["statements"]]
    assert keys(statements) == documented("`scenarios[].statements[]`")
    assert keys([load["latency_ms"] for load in loads]) == documented("latencies")
    failing = loads[2]
    assert failing["first_error"]["sqlstate"] == "22012"
    assert failing["failures"] == {"serialization": 0, "deadlock": 0, "other": failing["failed"]}
    assert failing["steps"][0]["errors"] == {"22012": failing["failed"]}
    assert failing["asked"]["transactions_per_client"] == 9
    assert failing["asked"]["clients"] == 3
    assert failing["server"]["database"] == "lab"


def test_every_key_of_a_search_is_documented_and_every_documented_key_is_there(
    environment: dict[str, str],
) -> None:
    search = ("--search", "p99 <= 10s", "--over", "clients", "--from", "1", "--to", "2")
    brief = ("-S", "-T", "0.1", "--warmup", "0", "--confidence", "60%")
    found = answer(environment, *search, *brief)
    assert set(found) == documented("the search", "pgassay.search/1")
    assert keys(found["probes"]) == documented("`probes[]`", "pgassay.search/1")
    assert found["asked"]["clients"] is None


def test_the_intervals_add_up_to_the_load_in_json_and_in_files(
    environment: dict[str, str], tmp_path: Path
) -> None:
    parquet, table = tmp_path / "series.parquet", tmp_path / "series.csv"
    shape = ("-S", "-b", "tpcb", "-c", "2", "-T", "1", "--interval", "250ms", "--warmup", "300ms")
    found = answer(environment, *shape, "--intervals", parquet)
    measured = [one for one in found["intervals"] if one["measured"]]
    assert sum(one["transactions"] for one in measured) == found["transactions"]
    assert len({one["start_ns"] for one in measured}) >= 4
    assert {one["scenario"] for one in measured} == {"select-only", "tpcb-like"}
    stored = pq.read_table(parquet)
    assert stored.schema.names == LOAD.names
    rows = stored.to_pylist()
    assert [row["transactions"] for row in rows] == [
        one["transactions"] for one in found["intervals"]
    ]
    assert all(sum(row["latency_count"]) == row["transactions"] for row in rows)
    done = pgassay("load", "-n", *shape, "--intervals", table, **environment)
    assert done.returncode == 0, done.stderr
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == LOAD.names
    for line in lines:
        assert sum(json.loads(line["latency_count"])) == int(line["transactions"])
