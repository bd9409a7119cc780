"""Several engines run one load on a real server, as several hosts would."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgassay import _core
from pgassay.plan.steps import Step
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest
from support.servers.lab import LabServer

SCRIPT = "INSERT INTO got (client) VALUES (:client_id);\n"
LEAD_NS = 100_000_000
LIMIT_S = 60.0


@pytest.fixture
def table(lab_server: LabServer) -> LabServer:
    with lab_server.admin() as session:
        session.execute("DROP TABLE IF EXISTS got")
        session.execute("CREATE TABLE got (client int)")
    return lab_server


def by_socket(server: LabServer) -> ConnectionParameters:
    host = server.cluster.parameters("lab").host
    return ConnectionParameters(host, server.port, "postgres", "lab")


def run_shares(server: LabServer, request: LoadRequest, of: int) -> list[dict[str, Any]]:
    """The result of each share; all begin at the same time."""
    whole = json.loads(request.configuration(by_socket(server)))
    configurations = [{**whole, "share": {"index": index, "of": of}} for index in range(of)]
    loads = [_core.Load(json.dumps(configuration)) for configuration in configurations]
    for load in loads:
        load.connect()
    start_ns = _core.now_ns() + LEAD_NS
    for load in loads:
        load.start(start_ns)
    assert all(load.wait(LIMIT_S) for load in loads)
    results = [json.loads(load.result()) for load in loads]
    assert {result["started_ns"] for result in results} == {start_ns}
    return results


def request_for(step: Step, **more: Any) -> LoadRequest:
    scenario = Scenario(name="s", file="s.sql", script=SCRIPT, weight=1)
    return LoadRequest([scenario], [step], {}, seed=7, threads=2, **more)


def inserted(server: LabServer) -> dict[int, int]:
    """Number of a client → rows that it inserted."""
    with server.admin() as session:
        rows = session.execute("SELECT client, count(*) FROM got GROUP BY client").fetchall()
    return dict(rows)


def total(results: list[dict[str, Any]], *keys: str) -> int:
    return sum(result[key] for result in results for key in keys)


def test_shares_have_all_clients_once_and_count_what_the_server_counts(table: LabServer) -> None:
    step = Step(clients=5, duration_s=1.0, measured=True)
    results = run_shares(table, request_for(step, transactions_per_client=40), of=3)
    assert inserted(table) == dict.fromkeys(range(5), 40)
    assert [result["connections"]["count"] for result in results] == [2, 2, 1]
    assert total(results, "transactions") == 200
    results = run_shares(table, request_for(step), of=2)
    assert total(results, "transactions", "unfinished") == sum(inserted(table).values()) - 200


def test_shares_of_an_open_loop_begin_every_arrival_once(table: LabServer) -> None:
    step = Step(clients=7, duration_s=2.0, measured=True, rate=300.0)
    results = run_shares(table, request_for(step, arrivals="constant"), of=3)
    begun = sum(inserted(table).values())
    assert begun == total(results, "transactions", "unfinished")
    # An arrival just before the end may be left by each client that waited for it.
    assert 593 <= begun + total(results, "backlog") <= 600
    assert all(result["transactions"] > 0 for result in results)
