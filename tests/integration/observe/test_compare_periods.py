"""Equal periods of a real server differ by no more than usual; a dropped index comes first."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgassay.server.hosts.account import Account
from support.runs.command import pgassay
from support.runs.observing import busy_sessions, ended, observing
from support.servers.lab import LabServer, installation_named, running_lab_server

TABLE = """
CREATE EXTENSION pg_stat_statements;
CREATE TABLE item AS SELECT n AS id, n % 5000 AS owner, repeat('x', 100) AS filler
  FROM generate_series(1, 100000) AS n;
CREATE INDEX of_owner ON item (owner);
VACUUM ANALYZE item
"""
ASKED = "SELECT count(filler) FROM item WHERE owner = 7"
LOAD = (f"SELECT pg_sleep(0.05), ({ASKED})", "SELECT pg_sleep(0.05), count(*) FROM pg_class")
PERIOD_S = 16


@pytest.mark.heavy
def test_equal_periods_are_as_usual_and_after_a_dropped_index_its_statement_leads(
    account: Account, servers_base: Path, tmp_path: Path
) -> None:
    run, lines = tmp_path / "run", "shared_preload_libraries = 'pg_stat_statements'\n"
    installation = installation_named("embedded-18")
    with running_lab_server(installation, account, servers_base, lines) as server:
        with server.admin() as session:
            for statement in TABLE.split(";"):
                session.execute(statement.encode())
        with busy_sessions(server.dsn(), *LOAD):
            begins = recorded(server, run)
    assert not [one for one in compared(run, begins[0], begins[1]) if one["unusual"]]
    found = compared(run, begins[1], begins[2])
    assert [one["unusual"] for one in found] == sorted(one["unusual"] for one in found)[::-1]
    # The table that is read whole may stand before the statement that reads it.
    assert {one["group"] for one in found[:2]} <= {"statements", "tables"}
    first = next(one for one in found if one["group"] == "statements")
    assert first["text"] is not None
    assert "item" in first["text"]
    assert first["second"] > 10 * first["first"]
    spec = tmp_path / "next.toml"
    done = pgassay("observe", "compare", run, *times(*begins[1:]), "--propose", spec)
    assert done.returncode == 0
    assert pgassay("plan", spec).returncode == 0
    assert "[factors.schema.index]" in spec.read_text()


def recorded(server: LabServer, run: Path) -> list[float]:
    """Records three periods, the last one without the index; returns their begins."""
    begins = list[float]()
    with observing(
        server, run, "--segment", "2s", "--duration", f"{3 * PERIOD_S + 12}s"
    ) as process:
        for number in range(3):
            time.sleep(2)
            if number == 2:
                with server.admin() as session:
                    session.execute("DROP INDEX of_owner")
                time.sleep(2)
            begins.append(time.time())
            time.sleep(PERIOD_S)
        ended(process)
    return begins


def times(first: float, second: float) -> list[str]:
    """The options of two periods that begin then."""
    at_s = (second, second + PERIOD_S, first)
    moments = [datetime.fromtimestamp(at, UTC).isoformat() for at in at_s]
    return ["--from", moments[0], "--to", moments[1], "--with", moments[2]]


def compared(run: Path, first: float, second: float) -> list[Any]:
    """The differences of two periods, in their order."""
    done = pgassay("observe", "compare", run, *times(first, second), "--json")
    assert done.stderr == ""
    found: list[Any] = json.loads(done.stdout)["differences"]
    return found
