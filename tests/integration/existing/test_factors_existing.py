"""Factors on an existing server: TLS or not, an index or not; the server is left as found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.server.hosts.account import Account
from pgassay.server.settings.statements import reload
from support.runs.command import pgassay, shop_workload
from support.servers.certificates import make_authority
from support.servers.lab import SECRET, LabServer, installation_named, running_lab_server

ASKS = "SELECT CASE WHEN {} AND random() < 0.1 THEN 1 / (random() * 0)::int END;\n"
SPEC = """
[target]
dsn = "host=localhost hostaddr=127.0.0.1 port={port} user=lab dbname=lab"
{target}
accept = ["commits", "sessions"]
[workload]
use = "./shop"
[factors.client]
sslmode = ["disable", "require"]
[factors.schema.index]
none = ""
"b-tree" = {{ sql = "CREATE INDEX one ON item (id)"{undo} }}
[load]
clients = 2
rate = 200
step = "0.6s"
warmup = "0.2s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""
UNDO = ', undo = "DROP INDEX one"'


@pytest.fixture(scope="module")
def lab(
    account: Account, servers_base: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LabServer]:
    """Debian's PostgreSQL with a certificate."""
    installation = installation_named("debian-15")
    authority = make_authority(tmp_path_factory.mktemp("certificates"), "ours")
    certificate, key = authority.sign("server", "localhost")
    with running_lab_server(installation, account, servers_base) as server:
        data = server.cluster.workspace.data
        for name, path in (("server.crt", certificate), ("server.key", key)):
            account.require(["tee", data / name], text=path.read_text(), limit_s=10)
        account.require(["chmod", "600", data / "server.key"], limit_s=10)
        with server.admin() as session:
            session.execute("ALTER SYSTEM SET ssl = on")
            reload(session)
        yield server


def test_tls_and_an_index_are_there_in_their_arms_alone(lab: LabServer, tmp_path: Path) -> None:
    ssl_used = ASKS.format("(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())")
    shop_workload(tmp_path, ssl_used + ASKS.format("to_regclass('one') IS NOT NULL"))
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(port=lab.port, target="allow_changes = true", undo=UNDO))
    planned = pgassay("plan", spec, PGPASSWORD=SECRET)
    assert planned.returncode == 0, planned.stderr
    assert (
        "schema    index = b-tree:\n"
        "  SQL     CREATE INDEX one ON item (id)\n"
        "  undo    DROP INDEX one\n"
    ) in planned.stdout
    done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    trials = [json.loads(p.read_text()) for p in sorted(run.glob("trials/*/trial.json"))]
    found = {(*trial["levels"].values(), trial["load"]["failed"] > 0) for trial in trials}
    assert found == {
        ("none", "disable", False), ("none", "require", True),
        ("b-tree", "disable", True), ("b-tree", "require", True),
    }  # fmt: skip
    with lab.admin() as session:
        row = session.execute("SELECT to_regnamespace('pgassay')").fetchone()
        assert row == (None,)


@pytest.mark.parametrize(
    ("target", "undo", "words"),
    [
        ("allow_changes = true", "", "'b-tree' needs SQL that undoes it on an existing server"),
        ("", UNDO, "factors.schema.index: changes the schema of an existing server"),
    ],
)
def test_sql_on_an_existing_server_needs_allow_changes_and_an_undo(
    tmp_path: Path, target: str, undo: str, words: str
) -> None:
    shop_workload(tmp_path, "SELECT 1;")
    spec = tmp_path / "lab.toml"
    spec.write_text(SPEC.format(port=1, target=target, undo=undo))
    done = pgassay("plan", spec)
    assert done.returncode == 1
    assert words in done.stderr
