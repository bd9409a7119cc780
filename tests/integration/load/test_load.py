"""`pgassay load` on a real server: pgbench's options, steps, and a search."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.runs import command
from support.servers.lab import LabServer


@pytest.fixture(scope="module")
def filled(lab_server: LabServer) -> LabServer:
    done = pgassay(lab_server, "init", "-q", "--drop")
    assert done.returncode == 0, done.stderr
    return lab_server


def pgassay(server: LabServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command.pgassay(*arguments, **server.variables())


def answer(server: LabServer, *arguments: str, exit_code: int = 0) -> dict[str, Any]:
    done = pgassay(server, "load", "--json", *arguments)
    assert done.returncode == exit_code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_load_with_pgbenchs_options_ends_after_its_transactions(filled: LabServer) -> None:
    found = answer(filled, "-c", "3", "-t", "20", "-b", "tpcb@0.5", "-b", "sel@1.5", "-n")
    assert found["schema"] == "pgassay.load/1"
    assert found["transactions"] == 60
    assert [s["weight"] for s in found["scenarios"]] == [0.5, 1.5]
    assert found["warnings"] == []


def test_a_scale_beside_a_builtin_script_is_ignored_with_a_warning(filled: LabServer) -> None:
    done = pgassay(filled, "load", "-S", "-s", "7", "-t", "5", "-n")
    assert done.returncode == 0
    assert "-s 7 is ignored: builtin scripts use the count of pgbench_branches" in done.stderr


def test_steps_are_reported_apart_and_a_seed_repeats_their_order(filled: LabServer) -> None:
    shuffled = ("--steps", "1..4 log 3", "-T", "0.3", "-S", "--shuffle", "--warmup", "100ms")
    found = answer(filled, *shuffled, "--random-seed", "4")
    clients = [step["clients"] for step in found["steps"]]
    assert [step["measured"] for step in found["steps"]] == [False, True, True, True]
    assert sorted(clients[1:]) == [1, 2, 4]
    assert clients[0] == clients[1]
    again = answer(filled, *shuffled, "--random-seed", "4")
    assert [step["clients"] for step in again["steps"]] == clients
    shown = pgassay(filled, "load", "--steps", "200ms:1,300ms:2", "-S", "-P", "0.1")
    assert shown.returncode == 0, shown.stderr
    assert "warm-up" not in shown.stdout
    assert shown.stderr.startswith("progress: ")


@pytest.mark.parametrize("transport", ["auto", "epoll"])
def test_busy_polling_is_reported_and_does_not_count_as_client_cpu(
    filled: LabServer, transport: str
) -> None:
    options = ("-S", "-c", "2", "-t", "500", "--transport", transport)
    blocking = answer(filled, *options)
    polling = answer(filled, *options, "--busy-poll", "1ms")
    assert blocking["transactions"] == polling["transactions"] == 1000
    assert blocking["busy_poll_s"] == 0.0
    assert 0.0 < polling["busy_poll_s"] <= polling["duration_s"]
    assert not polling["client_limited"]


@pytest.mark.parametrize("transport", ["io_uring", "epoll"])
def test_transactions_that_outlast_the_load_are_counted_with_their_time(
    filled: LabServer, tmp_path: Path, transport: str
) -> None:
    path = tmp_path / "slow.sql"
    path.write_text("SELECT pg_sleep(:client_id);\n")
    options = ("-n", "-c", "3", "-T", "1.8", "-f", str(path), "--transport", transport)
    found = answer(filled, *options)
    # The first client never sleeps, the second ends one transaction in time, the third none.
    assert found["unfinished"] >= 2
    assert 1980 < found["unfinished_max_ms"] < found["latency_with_unfinished_ms"]["max"] + 1
    assert found["latency_ms"]["max"] < 1800 < 1990 < found["latency_with_unfinished_ms"]["max"]
    assert any("still running when the load ended" in warning for warning in found["warnings"])


def test_a_search_counts_unfinished_transactions_as_slow(filled: LabServer, tmp_path: Path) -> None:
    path = tmp_path / "rare.sql"
    path.write_text("SELECT pg_sleep(CASE WHEN :client_id = 0 THEN 1 ELSE 0.01 END);\n")
    found = answer(
        filled, "-f", str(path), "-T", "0.5", "--warmup", "100ms", "--search", "max <= 700ms",
        "--over", "clients", "--from", "2", "--to", "4", "--within", "100%", "--confidence", "80%",
        exit_code=4,
    )  # fmt: skip
    assert found["holds"] is None
    assert all(probe["figures"]["max"] > 700 for probe in found["probes"])


def test_a_search_finds_the_number_of_clients_at_which_its_objective_breaks(
    filled: LabServer, tmp_path: Path
) -> None:
    # Every transaction holds one lock for 40 ms: n clients wait n × 40 ms, and a busy machine may
    # take another 25 ms for each before the answer changes.
    with filled.admin() as session:
        session.execute("DROP TABLE IF EXISTS one_lock")
        session.execute("CREATE TABLE one_lock AS SELECT 1 AS id")
    script = "SELECT pg_sleep(0.04) FROM (SELECT * FROM one_lock FOR UPDATE) AS held;\n"
    path = tmp_path / "lock.sql"
    path.write_text(script)
    found = answer(
        filled, "-f", str(path), "-T", "0.8", "--warmup", "300ms", "--search", "p50 <= 260ms",
        "--over", "clients", "--from", "1", "--to", "16", "--within", "100%", "--confidence", "80%",
    )  # fmt: skip
    assert found["schema"] == "pgassay.search/1"
    assert (found["holds"], found["breaks"]) == (4, 8)
    assert found["confirmations"] == 7
    assert all(probe["figures"]["p50"] > 0 for probe in found["probes"])


def test_a_search_without_an_answer_exits_with_status_four(filled: LabServer) -> None:
    done = pgassay(
        filled, "load", "-S", "-T", "0.1", "--warmup", "50ms", "--search", "p50 <= 1us",
        "--over", "clients", "--from", "1", "--to", "2", "--confidence", "60%",
    )  # fmt: skip
    assert done.returncode == 4
    assert "no level from 1 up: even the lowest breaks" in done.stdout


def test_exit_on_abort_ends_the_load_at_the_first_failure_as_in_pgbench(
    filled: LabServer, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.sql"
    path.write_text("SELECT 1;\nSELECT 1/0;\n")
    run = ("-n", "-f", str(path), "-c", "2", "-T", "600", "--exit-on-abort")
    done = pgassay(filled, "load", *run)
    assert done.returncode == 2
    assert f"was aborted: {path}:2: ERROR 22012: division by zero" in done.stderr
    assert done.stdout == ""
    pgbench = filled.cluster.installation.program("pgbench")
    theirs = [str(pgbench), *run, "-h", "127.0.0.1", "-p", str(filled.port), "-U", "lab", "lab"]
    done = subprocess.run(
        theirs, capture_output=True, text=True, timeout=60, env=os.environ | filled.variables()
    )
    assert done.returncode == 2


def test_verbose_errors_prints_every_failure_with_its_try(
    filled: LabServer, tmp_path: Path
) -> None:
    path = tmp_path / "clash.sql"
    path.write_text("DO $$ BEGIN RAISE SQLSTATE '40001' USING MESSAGE = 'clash'; END $$;\n")
    shared = ("-n", "-f", str(path), "-t", "1", "--max-tries", "2", "--verbose-errors")
    done = pgassay(filled, "load", *shared)
    first, second = (line for line in done.stderr.splitlines() if line.startswith("client 0: "))
    error = f"client 0: {path}:1: ERROR 40001: clash; "
    assert first == f"{error}repeats the transaction (try 1/2)"
    assert second == f"{error}ends the failed transaction (try 2/2)"
    timed = pgassay(filled, "load", *shared, "-L", "60000")
    assert "% of the maximum time of tries was used)" in timed.stderr
