"""Arms that need more than a server has are refused by `plan` and `run` before anything is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs.command import last_line, pgassay
from support.servers.lab import SECRET, LabServer

OWN = """
[workload]
use = "payments-read"
scale = 1
{tables}
[load]
clients = {clients}
rate = 100
step = "0.3s"
warmup = "0.1s"
[design]
max_blocks = 2
min_blocks = 2
"""
EXISTING = """
[target]
dsn = "host=127.0.0.1 port={port} user=plain dbname=lab"
allow_changes = true
"""


@pytest.mark.parametrize(
    ("tables", "clients", "words"),
    [
        ("", 150, "max_connections = 100; make it 153 or more, or lower load.clients"),
        ("[factors.postgres]\nmax_connections = [40, 200]", 60, "40: the load's 60 connections"),
        ('[factors.postgres]\nshared_buffers = ["16MB", "7TB"]', 2, "shared_buffers of 7168.0"),
        ('[factors.postgres]\nwal_level = ["minimal", "replica"]', 2, "takes max_wal_senders = 0"),
        ('[settings.postgres]\nshared_buffers = "7TB"', 2, "than the server's host lets it have"),
    ],
)
def test_an_owned_server_without_room_for_the_arms_is_refused(
    tmp_path: Path, tables: str, clients: int, words: str
) -> None:
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    spec.write_text(OWN.format(tables=tables, clients=clients))
    for done in (pgassay("plan", spec), pgassay("run", spec, "--out", run)):
        assert done.returncode == 1
        assert words in done.stderr
    assert not run.exists()


def test_an_existing_server_without_connections_for_the_load_is_refused(
    lab_server: LabServer, tmp_path: Path
) -> None:
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    with lab_server.admin() as session:
        (most,) = session.execute("SHOW max_connections").fetchone() or ("",)
        session.execute("ALTER ROLE plain CONNECTION LIMIT 7")
    try:
        tables = EXISTING.format(port=lab_server.port)
        spec.write_text(tables + OWN.format(tables="", clients=int(most)))
        plan = pgassay("plan", spec, PGPASSWORD=SECRET)
        assert plan.returncode == 1, plan.stderr
        text = " ".join(plan.stdout.split())
        assert f"more than max_connections = {most}" in text
        assert "limit of role plain, which is 7; raise it with ALTER ROLE" in text
        spec.write_text(tables + OWN.format(tables="", clients=4))
        done = pgassay("run", spec, "--out", run, PGPASSWORD=SECRET)
        assert done.returncode == 1
        assert "the connection limit of role plain, which is 7" in last_line(done.stderr)
        spec.write_text(tables + OWN.format(tables="", clients=3))
        done = pgassay("run", spec, "--out", run, PGPASSWORD=SECRET)
        assert done.returncode == 0, done.stderr
    finally:
        with lab_server.admin() as session:
            session.execute("ALTER ROLE plain CONNECTION LIMIT -1")
