"""Settings of the whole server that alternate inside trials, on real servers."""

from __future__ import annotations

import json
from pathlib import Path

from pgassay.target.capacity import own_sessions
from support.broken_runs import assert_nothing_open, watched
from support.command import pgassay, shop_workload
from support.servers import SECRET, LabServer

SPEC = """
[target]
{target}
[workload]
use = "{folder}"
[factors.postgres]
wal_sync_method = ["fdatasync", "fsync"]
[load]
clients = 3
step = "8500ms"
warmup = "0.5s"
[design]
mode = "switchback"
slice = "500ms"
min_blocks = 2
max_blocks = 2
"""
EXISTING = 'dsn = "host=127.0.0.1 port={port} user=lab dbname=lab"\nallow_changes = true'
SCRIPT = """
INSERT INTO public.seen VALUES
((extract(epoch FROM clock_timestamp()) * 1e9)::bigint, current_setting('wal_sync_method'),
 (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pgassay %'));
"""


def with_an_empty_table(server: LabServer) -> Path:
    """For the script; the file that ALTER SYSTEM writes."""
    with server.admin() as session:
        session.execute("DROP TABLE IF EXISTS public.seen")
        session.execute("CREATE TABLE public.seen (at_ns bigint, method text, ours int)")
    return server.cluster.workspace.data / "postgresql.auto.conf"


def written(folder: Path, target: str, script: str = SCRIPT) -> Path:
    """The spec."""
    spec = folder / "x.toml"
    spec.write_text(SPEC.format(target=target, folder=shop_workload(folder, script)))
    return spec


def test_every_slice_has_its_arms_setting_before_the_part_that_counts(
    lab_server: LabServer, tmp_path: Path
) -> None:
    settings = with_an_empty_table(lab_server)
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET wal_sync_method = 'open_datasync'")
        session.execute("SELECT pg_reload_conf()")
    found = settings.read_bytes()
    spec, run = written(tmp_path, EXISTING.format(port=lab_server.port)), tmp_path / "run"
    try:
        done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
        assert done.returncode == 0, done.stderr
        assert settings.read_bytes() == found
        assert_nothing_open(run)
        with lab_server.admin() as session:
            seen = session.execute("SELECT at_ns, method FROM public.seen").fetchall()
            (ours,) = session.execute("SELECT max(ours) FROM public.seen").fetchone() or (0,)
            (now,) = session.execute("SHOW wal_sync_method").fetchone() or ("",)
        assert now == "open_datasync"
    finally:
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM RESET wal_sync_method")
            session.execute("SELECT pg_reload_conf()")
    assert 2 <= ours <= own_sessions(is_ours=False, sees_host=True) + 1, (
        "what is promised to a server with few connections"
    )
    method = {"a1": "fdatasync", "a2": "fsync"}
    trials = [
        json.loads((trial / "trial.json").read_text()) for trial in (run / "trials").iterdir()
    ]
    # A trial whose reloads came late is run again, and told.
    assert len(trials) >= 2
    for trial in trials:
        told = trial["reloading"]
        slices = trial["load"]["slices"]
        assert told["settings"] == ["wal_sync_method"]
        assert 2 * (len(slices) // 2) - 2 <= told["edges"] < len(slices)
        assert told["disturbed"] == 0, "nobody reloads between edges"
        strays: dict[int, list[float]] = {}
        for one in slices[: told["edges"] + 1]:
            length = one["end_ns"] - one["start_ns"]
            for at, seen_as in seen:
                # The server's clock may be some ms off ours.
                inside = (at - one["start_ns"]) / length
                if 0.25 <= inside <= 0.98 and seen_as != method[one["variant"]]:
                    strays.setdefault(one["index"], []).append(round(inside, 3))
        # One more than told: the postmaster may be held up between two backends.
        assert len(strays) <= told["late"] + 1, f"{strays} of {told}"


def test_a_run_killed_while_settings_alternate_leaves_the_server_as_found_after_recovery(
    lab_server: LabServer, tmp_path: Path
) -> None:
    settings = with_an_empty_table(lab_server)
    found = settings.read_bytes()
    spec, run = written(tmp_path, EXISTING.format(port=lab_server.port)), tmp_path / "run"

    with watched(run, spec, PGPASSWORD=SECRET) as tool:
        # Read from disk: sessions of ours would look like somebody else's work.
        tool.wait_for(lambda: "'fsync'" in settings.read_text(), "a slice of the second arm")
        tool.kill()
    assert settings.read_bytes() != found
    done = pgassay("recover", run, PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    assert settings.read_bytes() == found
    assert_nothing_open(run)


def test_a_server_of_our_own_takes_turns_too(tmp_path: Path) -> None:
    spec, run = written(tmp_path, "", "SELECT 1;"), tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    (trial, *_) = sorted((run / "trials").iterdir())
    told = json.loads((trial / "trial.json").read_text())
    assert told["reloading"]["edges"] >= 15
    assert told["reset"]["settings"]["wal_sync_method"] == "fdatasync"
    changed = [text for text in told["validity"]["reasons"] if "setting changed" in text]
    assert not changed, "afterwards it is what it was before the load"
