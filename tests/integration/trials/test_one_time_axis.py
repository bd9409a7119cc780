"""Times of the server and of the client stand on one axis, also where their clocks differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay import _core
from pgassay.server.hosts.account import Account
from pgassay.trials.checkpoints.combined import checkpoints_in_log
from pgassay.trials.server_log.events import LogEvent
from pgassay.trials.server_log.reader import ServerLog
from pgassay.trials.server_log.server_clock import ServerClock
from support.packages import needs
from support.servers.lab import LabServer, installation_named, running_lab_server, wait_until

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
AHEAD_S = 93.25
NEAR_NS = 5_000_000
FULL_RECORD = "log_line_prefix = '%n [%p] %e %b %q%u@%d '\nlog_checkpoints = on\n"


@pytest.fixture
def server_ahead(
    account: Account, servers_base: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LabServer]:
    """A server whose clock runs ahead of this machine's."""
    needs("faketime")
    monkeypatch.setattr(
        "pgassay.server.hosts.account.KEPT_VARIABLES",
        ("PATH", "TZ", "LD_PRELOAD", "FAKETIME", "FAKETIME_DONT_FAKE_MONOTONIC"),
    )
    monkeypatch.setenv("LD_PRELOAD", str(FAKETIME))
    monkeypatch.setenv("FAKETIME", f"+{AHEAD_S}")
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    installation = installation_named("debian-15")
    with running_lab_server(installation, account, servers_base, FULL_RECORD) as server:
        monkeypatch.delenv("LD_PRELOAD")
        yield server


def checkpoint_seen(server: LabServer) -> tuple[int, int, int, ServerClock]:
    """When the log says a forced checkpoint began, between which moments of ours that was."""
    clock = ServerClock(server.admin)
    assert clock.read()
    log = ServerLog(server.admin, "127.0.0.1", server.cluster.workspace.log_file, clock=clock)
    with server.admin() as session:
        session.execute("CREATE TABLE IF NOT EXISTS touched (x int)")
        session.execute("INSERT INTO touched SELECT generate_series(1, 1000)")
        before = _core.now_ns()
        session.execute("CHECKPOINT")
        after = _core.now_ns()
    assert clock.read()
    events: list[LogEvent] = []

    def is_told() -> bool:
        events.extend(log.read(goes_on=True).events or ())
        return any(event.kind == "checkpoint_end" for event in events)

    wait_until(is_told, "a checkpoint in the log")
    (found,) = checkpoints_in_log(events)
    return found.started_ns, before, after, clock


def test_a_checkpoint_in_the_log_is_where_the_client_saw_it(lab_server: LabServer) -> None:
    started, before, after, clock = checkpoint_seen(lab_server)
    assert before - NEAR_NS <= started <= after + NEAR_NS
    assert clock.is_ours
    assert clock.described()["uncertainty_ms"] < 5


def test_a_server_ahead_of_us_is_put_on_our_axis_within_5_ms(server_ahead: LabServer) -> None:
    started, before, after, clock = checkpoint_seen(server_ahead)
    reported = clock.described()
    assert abs(reported["offset_ms"] - AHEAD_S * 1e3) <= reported["uncertainty_ms"] + 0.01
    assert reported["uncertainty_ms"] < 5
    assert reported["applied"] is True
    assert before - NEAR_NS <= started <= after + NEAR_NS
