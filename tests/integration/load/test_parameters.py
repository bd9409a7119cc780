"""Transactions take their variables from the rows of a file, on real servers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.runs.broken import assert_no_server_left
from support.runs.command import pgassay, shop_workload
from support.servers.lab import LabServer
from support.servers.pool import on_newest_version

SECRET = "sesame-4711"
ROWS: list[dict[str, Any]] = [
    {"id": 1, "price": 0.1 + 0.2, "paid": True, "note": 'it\'s a\\b "c" :id -- é\n'},
    {"id": -2, "price": None, "paid": None, "note": None},
    {"id": None, "price": 1e300, "paid": False, "note": ""},
    {"id": 2**62, "price": 2.0, "paid": True, "note": "'; DROP TABLE got; --"},
    {"id": 0, "price": float("inf"), "paid": False, "note": "null"},
]
SCRIPT = """\
\\set half :id / 2
\\if :paid
INSERT INTO got VALUES (:id, :price, :paid, :note, 1);
\\else
INSERT INTO got VALUES (:id::int8, :price, :paid, :note, 0);
\\endif
"""


@on_newest_version
@pytest.mark.parametrize("protocol", ["simple", "extended", "prepared"])
def test_every_value_reaches_the_server_as_it_is_in_the_file(
    protocol: str, lab_server: LabServer, tmp_path: Path
) -> None:
    with lab_server.admin() as session:
        session.execute("DROP TABLE IF EXISTS got")
        session.execute(
            "CREATE TABLE got (id int8, price float8, paid bool, note text, branch int)"
        )
        session.execute("GRANT ALL ON got TO PUBLIC")
    script = tmp_path / "buy.sql"
    script.write_text(SCRIPT)
    rows = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), rows)
    done = pgassay(
        *("load", "-n", "-f", script, "--parameters", rows, "--row-order", "sequential"),
        *("-c", "2", "-t", "5", "-M", protocol, "--json"),
        **lab_server.variables(),
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["failed"] == 0
    assert answer["asked"]["scripts"][0]["parameters"] == {
        "file": "rows.parquet",
        "rows": 5,
        "columns": [
            {"name": "id", "type": "int"},
            {"name": "price", "type": "double"},
            {"name": "paid", "type": "bool"},
            {"name": "note", "type": "text"},
        ],
        "order": "sequential",
    }
    with lab_server.admin() as session:
        found = session.execute("SELECT id, price, paid, note, branch FROM got").fetchall()
    expected = [(*row.values(), int(row["paid"] or False)) for row in ROWS]
    assert Counter(found) == Counter(expected * 2)


def experiment(folder: Path) -> Path:
    """A load of which one transaction in ten fails by a row's value, and its rows."""
    shop = shop_workload(folder, "SELECT :word::int;")
    rows = [f"{number},{number}" for number in range(9)]
    (shop / "rows.csv").write_text("\n".join(["number,word", *rows, f"9,{SECRET}", ""]))
    (shop / "workload.toml").write_text(
        "title = 'Shop'\n[scenarios.buy]\nfile = 'buy.sql'\nparameters = 'rows.csv'\n"
    )
    file = folder / "lab.toml"
    file.write_text(
        "[workload]\nuse = 'shop'\n[load]\nrate = 100\nstep = '0.3s'\nwarmup = '0.1s'\n"
        "[reset]\nlevel = 'none'\n[factors.client]\nprotocol = ['simple', 'prepared']\n"
        "[design]\nseed = 3\nmin_blocks = 2\nmax_blocks = 2\n"
    )
    return file


def test_a_run_keeps_no_value_and_goes_on_with_the_same_rows_only(
    tmp_path: Path, own_base: Path
) -> None:
    file = experiment(tmp_path)
    plan = pgassay("plan", file)
    assert "buy; parameters: 10 rows of 2 columns, drawn at random" in plan.stdout, plan.stderr
    shown = json.loads(pgassay("plan", file, "--json").stdout)["parameters"]
    assert (shown["buy"]["file"], shown["buy"]["order"]) == ("rows.csv", "random")
    run = tmp_path / "run"
    done = pgassay("run", file, "--out", run)
    assert done.returncode == 0, done.stderr
    trials = [json.loads(path.read_text())["load"] for path in run.glob("trials/*/trial.json")]
    assert sum(
        scenario["errors"].get("22P02", 0) for one in trials for scenario in one["scenarios"]
    )
    kept = b"".join(path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert b"its text may hold a parameter" in kept
    for text in (kept.decode("utf-8", "replace"), done.stdout, done.stderr):
        assert SECRET not in text
    (scenario,) = json.loads((run / "workload.json").read_text())["scenarios"]
    assert scenario["parameters"]["rows"] == 10
    assert [one["type"] for one in scenario["parameters"]["columns"]] == ["int", "text"]

    rows = tmp_path / "shop" / "rows.csv"
    rows.write_text(rows.read_text().replace("8,8", "8,7"))
    again = pgassay("run", "--resume", run)
    assert again.returncode == 1
    assert f"{rows}: this file of parameters is not the one that the run began with" in again.stderr
    assert_no_server_left(own_base)
