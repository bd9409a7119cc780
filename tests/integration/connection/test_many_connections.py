"""One process runs the transactions of ten thousand connections."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay import _core
from pgassay.plan.steps import Step
from pgassay.server.protocol import PATIENCE_S, ConnectionParameters
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest, open_load
from support.servers import silent_server

CONNECTIONS = 10_000
PORT = 5432
LIMIT_S = 120.0


@pytest.fixture
def listening() -> Iterator[ConnectionParameters]:
    with tempfile.TemporaryDirectory(prefix="pgassay-") as folder:
        command = [sys.executable, silent_server.__file__, str(Path(folder) / f".s.PGSQL.{PORT}")]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == "listening\n"
            yield ConnectionParameters(host=folder, port=PORT, user="nobody", dbname="none")
            assert server.stdin is not None
            server.stdin.close()


def test_connecting_may_take_long_unless_the_user_sets_a_limit() -> None:
    patient = ConnectionParameters("db", 5432, "u", "d")
    assert (patient.connect_timeout_s, patient.for_load()["connect_timeout_s"]) == (
        10.0,
        PATIENCE_S,
    )
    limited = replace(patient, connect_timeout_s=3.0, chose_timeout=True)
    assert limited.for_load()["connect_timeout_s"] == 3.0


def test_waiting_for_connections_is_reported_and_can_be_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pgassay.trials.load.engine._REPORT_EVERY_S", 0.05)
    reported: list[int] = []

    def interrupt(connections: int, since_s: float) -> None:
        reported.append(connections)
        if len(reported) == 2:
            raise KeyboardInterrupt

    with (
        tempfile.TemporaryDirectory(prefix="pgassay-") as folder,
        socket.socket(socket.AF_UNIX) as mute,
    ):
        mute.bind(f"{folder}/.s.PGSQL.{PORT}")
        mute.listen()
        one = Scenario("one", "one.sql", "SELECT 1;\n", 1.0)
        request = LoadRequest([one], [Step(3, 1.0, measured=True)], {}, 1)
        with pytest.raises(KeyboardInterrupt):
            open_load(request, ConnectionParameters(folder, PORT, "nobody", "none"), interrupt)
    assert reported == [3, 3]


@pytest.mark.parametrize("transport", ["epoll", pytest.param("io_uring", marks=pytest.mark.heavy)])
def test_ten_thousand_connections_run_in_one_process(
    listening: ConnectionParameters, transport: str
) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < CONNECTIONS + 1000:
        pytest.skip(f"only {most} open files are allowed here; raise the hard limit (ulimit -Hn)")
    load = _core.Load(
        json.dumps(
            {
                "connection": listening.for_core(),
                "application_name": "many",
                "scenarios": [
                    {"name": "one", "file": "one.sql", "script": "SELECT 1;\n", "weight": 1}
                ],
                "steps": [{"clients": CONNECTIONS, "duration_s": None, "measured": True}],
                "transactions_per_client": 3,
                "protocol": "simple",
                "threads": 2,
                "transport": transport,
                "seed": 1,
                "interval_s": 1.0,
                "variables": {},
            }
        )
    )
    load.connect()
    load.start()
    assert load.wait(LIMIT_S)
    result = json.loads(load.result())

    assert result["backend"] == transport
    assert result["transactions"] == 3 * CONNECTIONS
    assert result["failed"] == 0
    assert result["lost_connections"] == 0
    assert result["connections"] == {"count": CONNECTIONS, "min_tx": 3, "max_tx": 3}
