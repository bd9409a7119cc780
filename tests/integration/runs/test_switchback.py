"""Switchbacks on real servers: all arms alternate inside every trial."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from pgassay.server.existing.capacity import own_sessions
from pgassay.server.protocol import Connection
from support.runs.broken import assert_nothing_open, watched
from support.runs.command import last_line, pgassay, shop_workload
from support.servers.lab import SECRET, LabServer, scalar

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
    workload = shop_workload(tmp_path, "SELECT pg_sleep(0.005);")
    (tmp_path / "slow.sql").write_text("SELECT pg_sleep(0.02);")
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
        # One with more than 5 % late reloads does not count and is run again, perhaps as late.
        assert len(trials_of(run)) >= 2
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


def test_a_user_who_may_change_nothing_varies_a_session_setting_that_nobody_else_sees(
    watcher: LabServer, tmp_path: Path
) -> None:
    files = watcher.cluster.workspace.data / "postgresql.auto.conf"
    with watcher.admin() as session:
        found = loaded_at(session), files.read_bytes(), files.stat().st_mtime_ns
        as_before = scalar(session, "SHOW work_mem")
    spec, run = watching_spec(tmp_path, watcher, WORK_MEM), tmp_path / "run"
    planned = pgassay("plan", spec, PGPASSWORD=SECRET, COLUMNS="300")
    assert planned.returncode == 0, planned.stderr
    assert "its settings are not changed" in planned.stdout
    assert "only the sessions of the load are given work_mem" in planned.stdout
    assert "stops:" not in planned.stdout
    with others_values(watcher, "work_mem") as seen:
        done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    # The script is slower under one of the values, so the sessions of the load had them.
    assert [one["verdict"] for one in json.loads(done.stdout)["verdicts"]] == ["worse"]
    assert seen == {as_before}
    with watcher.admin() as session:
        assert (loaded_at(session), files.read_bytes(), files.stat().st_mtime_ns) == found
    assert {tuple(trial["reset"]["settings"]) for trial in trials_of(run)} == {()}
    assert "work_mem" not in (run / "journal.jsonl").read_text()


def test_in_blocks_the_same_setting_takes_permission_and_the_right_to_change_the_server(
    watcher: LabServer, tmp_path: Path
) -> None:
    spec = watching_spec(tmp_path, watcher, WORK_MEM)
    refused = pgassay(
        "run", spec, "--mode", "blocks", "--out", tmp_path / "run", PGPASSWORD=SECRET, COLUMNS="300"
    )
    assert refused.returncode == 1
    said = last_line(refused.stderr)
    assert "factors.postgres.work_mem: " in said
    assert 'write target.allow_changes = true, or mode = "switchback"' in said
    spec.write_text(spec.read_text().replace("[workload]", "allow_changes = true\n[workload]"))
    refused = pgassay(
        "run", spec, "--mode", "blocks", "--out", tmp_path / "run", PGPASSWORD=SECRET, COLUMNS="300"
    )
    assert refused.returncode == 1
    assert "work_mem: watcher may not ALTER SYSTEM" in last_line(refused.stderr)


def test_a_setting_that_the_user_may_not_set_stops_plan_and_run_before_data_are_built(
    watcher: LabServer, tmp_path: Path
) -> None:
    factors = "[factors.postgres]\ntrack_io_timing = ['off', 'on']\n"
    spec, run = watching_spec(tmp_path, watcher, factors), tmp_path / "run"
    why = "track_io_timing: watcher may not set it; GRANT SET ON PARAMETER track_io_timing TO"
    planned = pgassay("plan", spec, PGPASSWORD=SECRET, COLUMNS="300")
    assert planned.stdout.count(f"stops: {why}") == 1
    refused = pgassay("run", spec, "--out", run, PGPASSWORD=SECRET, COLUMNS="300")
    assert refused.returncode == 1
    assert why in last_line(refused.stderr)
    assert "building" not in refused.stderr
    with watcher.admin() as session:
        session.execute("GRANT SET ON PARAMETER track_io_timing TO watcher")
    assert "stops:" not in pgassay("plan", spec, PGPASSWORD=SECRET, COLUMNS="300").stdout


WORK_MEM = "[factors.postgres]\nwork_mem = ['2MB', '64MB']\n"
SLOWER_WITH_MORE = (
    "SELECT pg_sleep(CASE current_setting('work_mem') WHEN '64MB' THEN 0.02 ELSE 0.005 END);"
)


@pytest.fixture
def watcher(lab_server: LabServer) -> Iterator[LabServer]:
    """The server, with a role for monitoring that may also make the schema of the workload."""
    with lab_server.admin() as session:
        session.execute(f"CREATE ROLE watcher LOGIN PASSWORD '{SECRET}'".encode())
        session.execute("GRANT pg_monitor TO watcher")
        session.execute("GRANT CREATE ON DATABASE lab TO watcher")
    try:
        yield lab_server
    finally:
        with lab_server.admin() as session:
            session.execute("DROP OWNED BY watcher")
            session.execute("DROP ROLE watcher")


def watching_spec(folder: Path, server: LabServer, factors: str) -> Path:
    workload = shop_workload(folder, SLOWER_WITH_MORE)
    target = server.target(user="watcher")
    return written(folder, factors, workload, target=target, mode="switchback")


def loaded_at(session: Connection) -> Any:
    return scalar(session, "SELECT pg_conf_load_time()")


@contextmanager
def others_values(server: LabServer, name: str) -> Iterator[set[str]]:
    """The values of a setting in a session that is open all the time, and in new ones."""
    seen: set[str] = set()
    over = Event()

    def look() -> None:
        with server.admin() as lasting:
            while not over.wait(0.2):
                with server.admin() as new:
                    seen.update(scalar(session, f"SHOW {name}") for session in (lasting, new))

    looking = Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


def reloading_spec(folder: Path, server: LabServer, factors: str = "", step: str = "8s") -> Path:
    spec = written(
        folder,
        factors + '[factors.postgres]\nwal_sync_method = ["fdatasync", "fsync"]',
        shop_workload(folder, RECORDS_ITS_SETTINGS),
        target=server.target("allow_changes = true"),
        step=step,
        mode="switchback",
    )
    # At full speed the load would take the processor that a reload in time needs.
    spec.write_text(spec.read_text().replace("[load]\n", "[load]\nrate = 200\n"))
    return spec
