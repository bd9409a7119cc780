"""Switchbacks on real servers: all arms alternate inside every trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pgassay.server.existing.capacity import own_sessions
from support.runs.broken import assert_nothing_open, watched
from support.runs.command import pgassay, shop_workload
from support.servers.lab import SECRET, LabServer

SPEC = """
{target}
[workload]
use = "{workload}"
{factors}
[load]
clients = 2
step = "{step}"
warmup = "0.5s"
[design]
mode = "{mode}"
slice = "250ms"
min_blocks = 2
max_blocks = 2
seed = 5
"""
ON_THE_LAB_SERVER = '[target]\ndsn = "host=127.0.0.1 port={port} user=lab dbname=lab"\n'
RECORDS_ITS_SETTINGS = """
INSERT INTO public.observed VALUES
((extract(epoch FROM clock_timestamp()) * 1e9)::bigint,
 current_setting('work_mem'), current_setting('wal_sync_method'),
 (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pgassay %'));
"""


def written(
    folder: Path, factors: str, workload: Path, *, target: str = "", step: str = "8s", mode: str
) -> Path:
    spec = folder / "x.toml"
    spec.write_text(
        SPEC.format(target=target, factors=factors, workload=workload, step=step, mode=mode)
    )
    return spec


def trials_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/trial.json"))]


def with_an_empty_table(server: LabServer) -> Path:
    """Make the table that the script writes to; the path of postgresql.auto.conf."""
    with server.admin() as session:
        session.execute("DROP TABLE IF EXISTS public.observed")
        session.execute(
            "CREATE TABLE public.observed (at_ns bigint, work_mem text, method text, ours int)"
        )
    return server.cluster.workspace.data / "postgresql.auto.conf"


def test_a_slower_script_is_found(tmp_path: Path) -> None:
    workload = shop_workload(tmp_path, "SELECT 1;")
    (tmp_path / "slow.sql").write_text("SELECT pg_sleep(0.004);")
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    factors = '[factors.scenarios]\nbuy = ["", "slow.sql"]'
    spec = written(tmp_path, factors, workload, mode="auto")
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["verdict"] == "worse"
    assert verdict["effect_pct"] < -20
    assert json.loads((run / "plan.json").read_text())["mode"] == "switchback"
    first, _ = trials_of(run)
    assert {one["variant"] for one in first["load"]["slices"]} == {"a1", "a2"}
    analysis = json.loads((run / "analysis.json").read_text())
    tps = next(c for c in analysis["comparisons"] if c["metric"] == "tps")
    assert tps["rounds"] >= 20
    assert len(tps["block_effects_pct"]) == 2
    assert {test["test"] for test in analysis["carry_over"]} == {
        "after a slice of the same arm against after another",
        "early against late part of slices",
        "longer against shorter slices",
    }
    assert "Slice by slice" in (run / "report.html").read_text()


@pytest.mark.heavy
def test_reloads_alternate_on_an_owned_server_too(tmp_path: Path) -> None:
    factors = '[factors.postgres]\nwal_sync_method = ["fdatasync", "fsync"]'
    workload = shop_workload(tmp_path, "SELECT 1;")
    spec, run = written(tmp_path, factors, workload, mode="switchback"), tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    trial = trials_of(run)[0]
    assert trial["reloading"]["edges"] >= 15
    assert trial["reset"]["settings"]["wal_sync_method"] == "fdatasync"
    assert not [text for text in trial["validity"]["reasons"] if "setting changed" in text]


def test_every_transaction_runs_under_its_arms_settings_in_a_resumed_switchback(
    lab_server: LabServer, tmp_path: Path
) -> None:
    settings = with_an_empty_table(lab_server)
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET wal_sync_method = 'open_datasync'")
        session.execute("SELECT pg_reload_conf()")
    found, run = settings.read_bytes(), tmp_path / "run"
    session_factor = '[factors.client.settings]\nwork_mem = ["4MB", "2MB"]\n'
    spec = reloading_spec(tmp_path, lab_server, session_factor, step="16s")
    try:
        with watched(run, spec, PGPASSWORD=SECRET) as tool:
            tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
            tool.kill()
        done = pgassay("run", "--resume", run, "--json", PGPASSWORD=SECRET)
        assert done.returncode == 0, done.stderr
        # A trial with more than 5 % late reloads is run again.
        assert json.loads(done.stdout)["trials"] >= 2
        assert settings.read_bytes() == found
        assert_nothing_open(run)
        with lab_server.admin() as session:
            rows = session.execute("SELECT at_ns, work_mem, method FROM public.observed").fetchall()
            (ours,) = session.execute("SELECT max(ours) FROM public.observed").fetchone() or (0,)
            (now,) = session.execute("SHOW wal_sync_method").fetchone() or ("",)
        assert now == "open_datasync"
    finally:
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM RESET wal_sync_method")
            session.execute("SELECT pg_reload_conf()")
    # plan promises so many sessions of pgassay's on a server with few connections.
    assert 2 <= ours <= own_sessions(is_ours=False, sees_host=True) + 1
    levels = {
        arm["id"]: arm["levels"] for arm in json.loads((run / "plan.json").read_text())["arms"]
    }
    checked = 0
    for trial in trials_of(run):
        stored, slices = trial["reloading"], trial["load"]["slices"]
        assert stored["settings"] == ["wal_sync_method"]
        assert stored["disturbed"] == 0, "nobody else reloads between edges"
        assert len(slices) - 4 <= stored["edges"] + 1 <= len(slices)
        late = 0
        for one in slices[: stored["edges"] + 1]:
            asked, length = levels[one["variant"]], one["end_ns"] - one["start_ns"]
            own = [row for row in rows if one["start_ns"] <= row[0] < one["end_ns"]]
            strays = sum(work_mem != asked["work_mem"] for _, work_mem, _ in own)
            assert strays <= one["crossing"], "only transactions that cross an edge may differ"
            checked += len(own) > strays
            # The part that counts; the server's clock may differ from ours by some ms.
            counted = [row for row in own if 0.25 <= (row[0] - one["start_ns"]) / length <= 0.98]
            late += any(method != asked["wal_sync_method"] for _, _, method in counted)
        # One more than reported as late: the postmaster may pause between two backends.
        assert late <= stored["late"] + 1, f"{late} of {stored}"
    assert checked > 20


def test_recover_restores_the_server_after_a_kill_while_reloads_alternate(
    lab_server: LabServer, tmp_path: Path
) -> None:
    settings = with_an_empty_table(lab_server)
    found, run = settings.read_bytes(), tmp_path / "run"
    spec = reloading_spec(tmp_path, lab_server)
    with watched(run, spec, PGPASSWORD=SECRET) as tool:
        # Read from disk: a session of ours would look like somebody else's work.
        tool.wait_for(lambda: "'fsync'" in settings.read_text(), "a slice of the second arm")
        tool.kill()
    assert settings.read_bytes() != found
    done = pgassay("recover", run, PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    assert settings.read_bytes() == found
    assert_nothing_open(run)


def reloading_spec(folder: Path, server: LabServer, factors: str = "", step: str = "8s") -> Path:
    return written(
        folder,
        factors + '[factors.postgres]\nwal_sync_method = ["fdatasync", "fsync"]',
        shop_workload(folder, RECORDS_ITS_SETTINGS),
        target=ON_THE_LAB_SERVER.format(port=server.port) + "allow_changes = true\n",
        step=step,
        mode="switchback",
    )
