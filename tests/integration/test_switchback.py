"""Arms that take turns inside trials, on real servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.broken_runs import assert_nothing_open, watched
from support.command import pgassay, shop_workload
from support.servers import SECRET, LabServer

OWNED = """
[workload]
use = "{use}"
[factors.{factor}]
{levels}
[load]
clients = 2
step = "8s"
warmup = "0.5s"
[design]
mode = "auto"
slice = "250ms"
min_blocks = 4
max_blocks = 4
seed = 5
"""
ON_THE_LAB_SERVER = """
[target]
dsn = "host=127.0.0.1 port={port} user=lab dbname=lab"
[workload]
use = "{folder}"
[factors.client.settings]
work_mem = ["4MB", "2MB"]
[load]
clients = 3
step = "8500ms"
warmup = "0.5s"
[design]
mode = "switchback"
slice = "250ms"
min_blocks = 2
max_blocks = 2
"""
CHANGED = """
[target]
dsn = "host=127.0.0.1 port={port} user=lab dbname=lab"
allow_changes = true
[workload]
use = "bank-write"
[factors.postgres]
work_mem = ["5MB", "9MB"]
[load]
clients = 2
step = "8s"
warmup = "0.5s"
[design]
mode = "switchback"
slice = "250ms"
min_blocks = 2
max_blocks = 2
"""
SCRIPT = """
INSERT INTO public.seen
VALUES ((extract(epoch FROM clock_timestamp()) * 1e9)::bigint, current_setting('work_mem'));
"""


def run_of(folder: Path, text: str) -> tuple[dict[str, Any], Path]:
    spec, run = folder / "x.toml", folder / "run"
    spec.write_text(text)
    done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), run


def test_a_slower_script_is_found_within_half_a_minute_of_load(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;")
    (tmp_path / "slow.sql").write_text("SELECT pg_sleep(0.004);")
    levels = 'buy = ["", "slow.sql"]'
    found, run = run_of(tmp_path, OWNED.format(use=folder, factor="scenarios", levels=levels))
    (verdict,) = found["verdicts"]
    assert verdict["verdict"] == "worse"
    assert verdict["effect_pct"] < -20
    plan = json.loads((run / "plan.json").read_text())
    assert plan["mode"] == "switchback"
    trials = sorted((run / "trials").iterdir())
    assert len(trials) == 4
    slices = json.loads((trials[0] / "trial.json").read_text())["load"]["slices"]
    assert {one["variant"] for one in slices} == {"a1", "a2"}
    report = (run / "report.html").read_text()
    assert "Slice by slice" in report
    assert pgassay("report", run).returncode == 0


def test_settings_that_do_nothing_are_not_called_far_apart(tmp_path: Path) -> None:
    levels = 'work_mem = ["4MB", "5MB"]'
    found, run = run_of(tmp_path, OWNED.format(use="bank-read", factor="postgres", levels=levels))
    (verdict,) = found["verdicts"]
    # One in twenty is called different; none of those by much.
    assert verdict["verdict"] in ("undecided", "equivalent", "negligible") or (
        abs(verdict["effect_pct"]) < 10
    )
    analysis = json.loads((run / "analysis.json").read_text())
    (comparison,) = (c for c in analysis["comparisons"] if c["metric"] == "tps")
    assert comparison["rounds"] >= 25
    assert len(comparison["block_effects_pct"]) == 4
    assert {test["test"] for test in analysis["carry_over"]} == {
        "after a slice of the same arm against after another",
        "early against late part of slices",
        "longer against shorter slices",
    }
    assert {arm["trials"] for arm in analysis["arms"]} == {4}


def test_every_transaction_runs_under_the_setting_of_the_arm_whose_turn_it_is(
    lab_server: LabServer, tmp_path: Path
) -> None:
    with lab_server.admin() as session:
        session.execute("DROP TABLE IF EXISTS public.seen")
        session.execute("CREATE TABLE public.seen (at_ns bigint, work_mem text)")
    folder = shop_workload(tmp_path, SCRIPT)
    _, run = run_of(tmp_path, ON_THE_LAB_SERVER.format(port=lab_server.port, folder=folder))
    with lab_server.admin() as session:
        seen = session.execute("SELECT at_ns, work_mem FROM public.seen").fetchall()
        (now,) = session.execute("SHOW work_mem").fetchone() or ("",)
    assert now == "4MB"
    work_mem = {"a1": "4MB", "a2": "2MB"}
    checked = 0
    for trial in sorted((run / "trials").iterdir()):
        for one in json.loads((trial / "trial.json").read_text())["load"]["slices"]:
            own = [value for at, value in seen if one["start_ns"] <= at < one["end_ns"]]
            strays = sum(value != work_mem[one["variant"]] for value in own)
            assert strays <= one["crossing"], "only who crosses an edge runs as the slice before"
            checked += len(own) > strays
    assert checked > 20


def test_a_killed_switchback_is_resumed_as_one_and_leaves_the_server_as_found(
    lab_server: LabServer, tmp_path: Path
) -> None:
    settings = lab_server.cluster.workspace.data / "postgresql.auto.conf"
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    before = settings.read_bytes()
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    spec.write_text(CHANGED.format(port=lab_server.port))
    try:
        with watched(run, spec, PGPASSWORD=SECRET) as tool:
            tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
            tool.kill()
        done = pgassay("run", "--resume", run, "--json", PGPASSWORD=SECRET)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["trials"] == 2
        assert settings.read_bytes() == before
        assert_nothing_open(run)
    finally:
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM RESET work_mem")
            session.execute("SELECT pg_reload_conf()")
