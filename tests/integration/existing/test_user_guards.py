"""Guards that a user has set on a role, a database or a connection hold for everything that makes
or empties tables; what a run has made itself is taken back whatever is set meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import TargetError
from pgassay.server.existing.access import Access
from pgassay.server.existing.target import ExistingTarget
from pgassay.spec.workload.folder import InstalledTables
from support.runs.command import pgassay
from support.servers.accounts import build_accounts
from support.servers.lab import SECRET, LabServer, RecordingJournal, scalar

GUARD = "default_transaction_read_only"
LAYERS = {
    "user": ("ALTER ROLE plain SET {guard} = on", "ALTER ROLE plain RESET"),
    "database": ("ALTER DATABASE lab SET {guard} = on", "ALTER DATABASE lab RESET"),
    "database user": (
        "ALTER ROLE plain IN DATABASE lab SET {guard} = on",
        "ALTER ROLE plain IN DATABASE lab RESET",
    ),
    "global": ("ALTER ROLE ALL SET {guard} = on", "ALTER ROLE ALL RESET"),
}
SPEC = """
[target]
dsn = "host=127.0.0.1 port={port} user=plain dbname=lab"
[workload]
use = "payments-write"
[load]
clients = 1
step = "0.3s"
[design]
min_blocks = 2
max_blocks = 2
"""


@pytest.fixture
def server(lab_server: LabServer) -> Iterator[LabServer]:
    """One whose role `plain` owns pgbench's tables with a row in its history, and has no guard."""
    made = pgassay("init", "-q", **as_plain(lab_server))
    assert made.returncode == 0, made.stderr
    with lab_server.admin() as session:
        session.execute("INSERT INTO pgbench_history (tid) VALUES (1)")
    yield lab_server
    with lab_server.admin() as session:
        session.execute(f"SET {GUARD} = off")
        for _, reset in LAYERS.values():
            session.execute(f"{reset} ALL".encode())
        session.execute("DROP OWNED BY plain CASCADE")


def as_plain(server: LabServer) -> dict[str, str]:
    return server.variables() | {"PGUSER": "plain"}


def guarded(server: LabServer, layer: str) -> None:
    with server.admin("postgres") as session:
        session.execute(LAYERS[layer][0].format(guard=GUARD).encode())


def history(server: LabServer) -> int:
    with server.admin() as session:
        return int(scalar(session, "SELECT count(*) FROM pgbench_history"))


def test_a_role_that_may_not_write_drops_and_empties_nothing_as_with_pgbench(
    server: LabServer,
) -> None:
    guarded(server, "user")
    made = pgassay("init", "-q", **as_plain(server))
    assert made.returncode == 1
    reason = f"{GUARD} is on for role plain in database lab, so"
    fix = f"run ALTER ROLE plain RESET {GUARD}, or connect as a role that may write"
    (line,) = [one for one in made.stderr.splitlines() if GUARD in one]
    assert f"pgassay: {reason} nothing can be made there; {fix}" == line.replace('"', "")
    loaded = pgassay("load", "-S", "-t", "10", **as_plain(server))
    assert loaded.returncode == 0, loaded.stderr
    said = " ".join(loaded.stderr.replace('"', "").split())
    assert f"{reason} truncate pgbench_history failed; {fix}" in said
    assert "made there" not in said
    assert history(server) == 1


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_plan_and_run_name_the_guard_and_where_it_is_set_before_anything_is_made(
    server: LabServer, tmp_path: Path, layer: str
) -> None:
    guarded(server, layer)
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC.format(port=server.port))
    planned = pgassay("plan", spec, PGPASSWORD=SECRET)
    ran = pgassay("run", spec, "--out", tmp_path / "run", PGPASSWORD=SECRET)
    assert ran.returncode == 1
    fix = f"run {LAYERS[layer][1]} {GUARD}, or connect as"
    for said in (planned.stdout, ran.stderr):
        assert fix in " ".join(said.replace('"', "").split()), said
    with server.admin() as session:
        assert scalar(session, "SELECT to_regnamespace('pgassay') IS NULL")


def test_a_guard_of_the_connection_is_named_as_such(server: LabServer) -> None:
    target = ExistingTarget(f"{server.dsn()} options='-c {GUARD}=on'", RecordingJournal())
    with closing(target), pytest.raises(TargetError, match=rf"{GUARD} is on.*PGOPTIONS"):
        target.open()


def test_a_run_that_makes_nothing_is_free_to_read_under_the_guard(server: LabServer) -> None:
    guarded(server, "user")
    tables = InstalledTables(("pgbench_accounts",))
    dsn = server.dsn(user="plain")
    with closing(ExistingTarget(dsn, RecordingJournal(), installed=tables)) as target:
        target.open()


def test_what_a_run_made_is_taken_back_though_the_guard_is_set_meanwhile(
    server: LabServer,
) -> None:
    target = ExistingTarget(
        server.dsn(user="plain"),
        RecordingJournal(),
        allow_changes=True,
        access=Access(settings_at="role"),
    )
    with closing(target):
        target.open()
        target.prepare(build_accounts, {GUARD: "on", "lock_timeout": "1ms"})
        target.reset({"work_mem": "8MB"})
        guarded(server, "database")
    with server.admin("postgres") as session:
        session.execute("ALTER DATABASE lab RESET ALL")
        assert scalar(session, "SELECT count(*) FROM pg_db_role_setting") == 0
    with server.admin() as session:
        assert scalar(session, "SELECT to_regnamespace('pgassay') IS NULL")


def test_the_lock_timeout_of_a_role_bounds_how_long_init_waits_before_others(
    server: LabServer,
) -> None:
    with server.admin("postgres") as session:
        session.execute("ALTER ROLE plain SET lock_timeout = '50ms'")
    with psycopg.connect(server.dsn()) as reader:
        reader.execute("SELECT FROM pgbench_history")
        made = pgassay("init", "-q", **as_plain(server))
        loaded = pgassay("load", "-S", "-t", "10", **as_plain(server))
    assert made.returncode == 1
    assert "canceling statement due to lock timeout" in made.stderr
    assert loaded.returncode == 0, loaded.stderr
    assert history(server) == 1
