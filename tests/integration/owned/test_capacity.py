"""Arms that need more than a server has are refused by `plan` and `run` before anything is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.plan.design import make_plan
from pgassay.spec.parse import load_spec
from pgassay.trials.run.refusals.before_servers import refuse_plan
from support.refusals import refused
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
    ("tables", "clients", "code", "values"),
    [
        ("", 150, "lacks-connections", {"most": 100, "wanted": 153}),
        (
            "[factors.postgres]\nmax_connections = [40, 200]",
            60,
            "lacks-connections",
            {"most": 40, "load": "60 connections"},
        ),
        (
            '[factors.postgres]\nshared_buffers = ["16MB", "7TB"]',
            2,
            "lacks-memory",
            {"asked": 7168.0},
        ),
        (
            '[factors.postgres]\nwal_level = ["minimal", "replica"]',
            2,
            "minimal-wal-level",
            {"name": "max_wal_senders", "must": "0"},
        ),
        ('[settings.postgres]\nshared_buffers = "7TB"', 2, "lacks-memory", {"of": ""}),
    ],
)
def test_an_owned_server_without_room_for_the_arms_is_refused(
    tmp_path: Path, tables: str, clients: int, code: str, values: dict[str, object]
) -> None:
    path, run = tmp_path / "x.toml", tmp_path / "run"
    path.write_text(OWN.format(tables=tables, clients=clients))
    spec = load_spec(path)
    with refused(code, **values) as found:
        refuse_plan(spec, make_plan(spec))
    planned, ran = pgassay("plan", path), pgassay("run", path, "--out", run)
    assert (planned.returncode, ran.returncode) == (1, 1)
    # Printed before the error has the file's name.
    assert f"stops: {str(found.value).removeprefix(f'{path}: ')}" in planned.stdout
    assert str(found.value) in ran.stderr
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
