"""Every script of every ready workload, once on real servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgassay.plan.steps import Step
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.workload.folder import Scenario, Workload
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import OnThisMachine
from support.load.ready import first_major, ready, scripts_of
from support.servers.lab import LabServer
from support.servers.pool import on_newest_version

CLIENTS = 2
LONGEST = Step(CLIENTS, 60.0, measured=True)
SIMPLE = "many-tables-vacuum"
"""The workload whose scripts need the simple protocol."""
LARGE = {"airline", "analytics", "orders"}
"""Their data take long to make."""


def by_data() -> Iterator[object]:
    """Workloads that share their data, under the name of the first."""
    found: dict[tuple[str, ...], list[Workload]] = {}
    for one in (one for one in ready() if one.installed is None):
        found.setdefault(one.building_sql(1), []).append(one)
    for same in found.values():
        marks = [pytest.mark.heavy] if same[0].name in LARGE else []
        yield pytest.param(same, id=same[0].name, marks=marks)


@on_newest_version
@pytest.mark.parametrize("workloads", list(by_data()))
def test_every_script_of_a_ready_workload_runs_without_an_error(
    workloads: list[Workload], lab_server: LabServer
) -> None:
    name = workloads[0].name
    with lab_server.admin() as session:
        major = session.info.server_version // 10000
        session.execute(f'CREATE DATABASE "{name}"'.encode())
    with lab_server.admin(name) as session:
        for statements in workloads[0].building_sql(1):
            session.execute(statements.encode())
    parameters = ConnectionParameters(
        lab_server.cluster.parameters(name).host, lab_server.port, "postgres", name
    )
    for workload in workloads:
        for script in scripts_of(workload):
            if first_major(script) <= major:
                run_once(script, parameters, workload.name)
    with lab_server.admin() as session:
        session.execute(f'DROP DATABASE "{name}"'.encode())


def run_once(script: Scenario, parameters: ConnectionParameters, workload: str) -> None:
    protocols = ("simple",) if workload == SIMPLE else ("simple", "prepared")
    for protocol in protocols:
        request = LoadRequest(
            scenarios=[script],
            steps=[LONGEST],
            variables={"scale": 1},
            seed=1,
            protocol=protocol,
            transactions_per_client=1,
        )
        result = EngineLoad(request, parameters, OnThisMachine()).run(lambda _: None)
        assert (result["first_error"], result["transactions"]) == (None, CLIENTS), script.name
