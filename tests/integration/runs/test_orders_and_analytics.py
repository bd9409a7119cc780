"""`orders` and `analytics`: every script runs, and their data stay consistent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pgassay.server.connection.session import resolve
from pgassay.spec.workload.folder import Workload, load_workload
from pgassay.trials.guards.invariants import check_data
from support.runs.command import pgassay
from support.servers.lab import LabServer, scalar
from support.servers.pool import on_newest_version


def built(server: LabServer, name: str) -> Workload:
    """The workload, its data in the database of the server."""
    workload = load_workload(name, Path(), file="test")
    with server.admin() as session:
        session.execute("SET statement_timeout = 0")
        session.execute("DROP SCHEMA public CASCADE")
        session.execute("CREATE SCHEMA public")
        session.execute("SELECT setseed(0.5)")
        for text in workload.building_sql(1):
            session.execute(text.encode())
        session.execute("VACUUM (ANALYZE)")
    return workload


def load(server: LabServer, workload: Workload, folder: Path, *arguments: str) -> dict[str, Any]:
    """The result of a load with all its scripts."""
    scripts: list[str] = []
    for one in workload.scenarios:
        (folder / one.file).write_text(one.script)
        scripts += ["-f", f"{folder / one.file}@{one.weight:g}"]
    options = ("--json", "-s", "1", "--random-seed", "1", *arguments)
    done = pgassay("load", *scripts, *options, **server.variables())
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_consistent(server: LabServer, workload: Workload) -> None:
    found = check_data(workload.checks_at(1), resolve(server.dsn()))
    assert (found.violations, found.notes) == ({}, [])
    assert len(found.held) == len(workload.checks)


@on_newest_version
def test_orders_runs_all_its_transactions_without_a_failure_and_stays_consistent(
    lab_server: LabServer, tmp_path: Path
) -> None:
    workload = built(lab_server, "orders")
    assert_consistent(lab_server, workload)
    numbers = "SELECT sum(next_purchase) FROM district"
    with lab_server.admin() as session:
        before = scalar(session, numbers)
    found = load(lab_server, workload, tmp_path, "-c", "4", "-T", "3", "-R", "100")
    assert all(one["transactions"] > 0 and one["failed"] == 0 for one in found["scenarios"])
    assert_consistent(lab_server, workload)
    with lab_server.admin() as session:
        (made,) = [one for one in found["scenarios"] if "new-order" in one["name"]]
        # One in a hundred is rolled back.
        assert scalar(session, numbers) - before > 0.9 * made["transactions"]
        assert scalar(session, "SELECT sum(deliveries) > 0 FROM customer")
        session.execute("UPDATE customer SET balance = balance + 1 WHERE id = 1")
        session.execute("DELETE FROM open_purchase WHERE purchase_id = 3000 AND district_id = 1")
    broken = check_data(workload.checks_at(1), resolve(lab_server.dsn()))
    assert set(broken.violations) == {"customer-balances", "open-purchases"}


@on_newest_version
def test_analytics_answers_all_its_22_questions_and_its_data_are_consistent(
    lab_server: LabServer, tmp_path: Path
) -> None:
    workload = built(lab_server, "analytics")
    assert_consistent(lab_server, workload)
    found = load(lab_server, workload, tmp_path, "-c", "22", "-t", "1", "--pool", "per-scenario")
    answered = {one["name"] for one in found["scenarios"] if one["transactions"] > 0}
    assert len(answered) == len(workload.scenarios) == 22
    assert all(one["failed"] == 0 for one in found["scenarios"])
