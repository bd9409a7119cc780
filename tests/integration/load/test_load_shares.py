"""Several engines run one load on a real server, as several hosts would."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


def run_shares(
    server: LabServer, request: LoadRequest, of: int
) -> tuple[list[dict[str, Any]], _core.Merged]:
    """The result of each share, and all of them merged; all begin at the same time."""
    whole = request.configuration(by_socket(server))
    loads = [
        _core.Load(json.dumps({**json.loads(whole), "share": {"index": index, "of": of}}))
        for index in range(of)
    ]
    for load in loads:
        load.connect()
    start_ns = _core.now_ns() + LEAD_NS
    for load in loads:
        load.start(start_ns)
    assert all(load.wait(LIMIT_S) for load in loads)
    results = [json.loads(load.result()) for load in loads]
    assert {result["started_ns"] for result in results} == {start_ns}
    merging = _core.Merging(whole)
    merging.add([load.report() for load in loads])
    return results, merging.finish(start_ns)


def request_for(step: Step, **more: Any) -> LoadRequest:
    scenario = Scenario(name="s", file="s.sql", script=SCRIPT, weight=1)
    return LoadRequest([scenario], [step], {}, seed=7, threads=2, interval_s=0.1, **more)


def inserted(server: LabServer) -> dict[int, int]:
    """Number of a client → rows that it inserted."""
    with server.admin() as session:
        rows = session.execute("SELECT client, count(*) FROM got GROUP BY client").fetchall()
    return dict(rows)


def total(results: list[dict[str, Any]], *keys: str) -> int:
    return sum(result[key] for result in results for key in keys)


def test_shares_have_all_clients_once_and_count_what_the_server_counts(table: LabServer) -> None:
    step = Step(clients=5, duration_s=1.0, measured=True)
    results, merged = run_shares(table, request_for(step, transactions_per_client=40), of=3)
    assert inserted(table) == dict.fromkeys(range(5), 40)
    assert [result["connections"]["count"] for result in results] == [2, 2, 1]
    assert total(results, "transactions") == 200
    found = json.loads(merged.result())
    assert found["transactions"] == found["scenarios"][0]["transactions"] == 200
    assert found["connections"] == {"count": 5, "min_tx": 40, "max_tx": 40}
    assert [generator["transactions"] for generator in found["generators"]] == [80, 80, 40]


def test_merged_shares_are_one_load_row_by_row(table: LabServer) -> None:
    step = Step(clients=5, duration_s=1.0, measured=True)
    results, merged = run_shares(table, request_for(step), of=2)
    found = json.loads(merged.result())
    counted = found["transactions"] + found["unfinished"]
    assert counted == total(results, "transactions", "unfinished") == sum(inserted(table).values())
    assert found["duration_s"] == 1.0
    assert found["latency_ms"]["max"] == max(r["latency_ms"]["max"] for r in results)
    # What one engine's result has is in the merged one, but for what each engine contributed.
    assert found.keys() - results[0].keys() == {"generators"}
    intervals: Mapping[str, Any] = merged.intervals()
    assert sum(intervals["transactions"]) == found["transactions"]
    for counts, transactions in zip(
        intervals["latency_count"], intervals["transactions"], strict=True
    ):
        assert sum(counts) == transactions
    assert intervals["start_ns"][0] == found["started_ns"]


def test_shares_of_an_open_loop_begin_every_arrival_once(table: LabServer) -> None:
    step = Step(clients=7, duration_s=2.0, measured=True, rate=300.0)
    results, merged = run_shares(table, request_for(step, arrivals="constant"), of=3)
    begun = sum(inserted(table).values())
    assert begun == total(results, "transactions", "unfinished")
    found = json.loads(merged.result())
    # An arrival just before the end may be left by each client that waited for it.
    assert 593 <= begun + found["backlog"] <= 600
    assert (found["rate_asked"], found["backlog"]) == (300.0, total(results, "backlog"))
    assert found["rate_reached"] == pytest.approx(total(results, "transactions") / 2.0)
    assert all(result["transactions"] > 0 for result in results)


def test_a_report_of_another_version_is_refused_in_one_line(table: LabServer) -> None:
    step = Step(clients=1, duration_s=1.0, measured=True)
    request = request_for(step, transactions_per_client=1)
    configuration = request.configuration(by_socket(table))
    with pytest.raises(_core.CoreError, match="report 1 was made by another version"):
        _core.Merging(configuration).add([b"\xff"])
