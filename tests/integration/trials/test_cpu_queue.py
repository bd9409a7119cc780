"""More busy sessions than processors: those that run are separated from those that wait."""

from __future__ import annotations

import os
from pathlib import Path

from pgassay.server.hosts.account import Account
from support.runs.observing import busy_sessions, ended, observing
from support.servers.lab import installation_named, running_lab_server

SPIN = "DO $$ BEGIN FOR i IN 1..10000000 LOOP NULL; END LOOP; END $$"


def test_three_busy_sessions_on_one_processor_are_one_that_runs_and_two_in_the_queue(
    account: Account, servers_base: Path, tmp_path: Path
) -> None:
    with running_lab_server(installation_named("embedded-18"), account, servers_base) as server:
        first = (server.cluster.workspace.data / "postmaster.pid").read_text().split()[0]
        # What is forked from now on is where its parent is.
        os.sched_setaffinity(int(first), {min(os.sched_getaffinity(0))})
        with (
            busy_sessions(server.dsn(), SPIN, SPIN, SPIN),
            observing(server, tmp_path / "run", "--duration", "6s") as process,
        ):
            reported = ended(process)
    events = reported["events"]
    # Other programs may take most of that processor, and then nobody of ours runs on it.
    assert 2.3 < events["CPU"] + events["CPU queue"] < 3.2, events
    assert events["CPU"] < 1.5, events
    assert events["CPU queue"] > 1.2, events
