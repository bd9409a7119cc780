"""A stored run in Python: cheap to import, the same tables as SQL, clear refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pgassay
from pgassay.runs.catalogue import TABLES
from support.refusals import refused


def test_importing_pgassay_imports_no_library() -> None:
    code = "import sys; old = set(sys.modules); import pgassay; print(*set(sys.modules) - old)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert set(done.stdout.split()) <= {"pgassay", "__future__"}


def test_a_table_of_a_run_is_the_one_that_sql_shows(runs: Path) -> None:
    run = pgassay.open_run(runs / "wal")
    for name in TABLES:
        table = run.table(name)
        assert isinstance(table, pa.Table)
        assert table.schema.names == TABLES[name].schema.names
        asked = pgassay.sql(f"select count(*) as n from {name} where run = 'wal'", runs)
        assert asked.to_pylist() == [{"n": table.num_rows}]


def test_an_observation_and_an_unfinished_run_open_too(runs: Path) -> None:
    watched = pgassay.open_run(runs / "watched")
    assert (watched.waits.num_rows, watched.trials.num_rows) == (10, 0)
    unfinished = pgassay.open_run(str(runs / "unfinished"))
    assert (unfinished.state, unfinished.verdicts.num_rows) == ("unfinished", 0)
    with refused("not-analysed"):
        _ = unfinished.analysis


def test_what_is_no_run_is_refused(tmp_path: Path, runs: Path) -> None:
    with refused("is-another-kind"):
        pgassay.open_run(tmp_path)
    with refused("no-such-table"):
        pgassay.open_run(runs / "wal").table("nothing")


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"comparisons": 3}, "key-of-another-type"),
        ({"comparisons": [{"metric": "tps", "ci95": [1.0]}]}, "stored-key-missing"),
        ({"comparisons": [{"metric": "tps", "p_t": "x"}]}, "json-of-another-version"),
        ({"schema": "pgassay.analysis/2"}, "of-another-schema"),
    ],
)
def test_a_damaged_analysis_is_refused(
    runs: Path, tmp_path: Path, changed: dict[str, Any], code: str
) -> None:
    shutil.copytree(runs / "wal", tmp_path / "wal")
    file = tmp_path / "wal" / "analysis.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))
    with refused(code):
        pgassay.open_run(tmp_path / "wal").table("comparisons")
