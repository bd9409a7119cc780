"""A server that hangs, as on storage that does not answer, does not hang who observes it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from pgassay.errors import ExitCode
from pgassay.target.installation import Installation
from support.broken_runs import servers_below
from support.observing import ended, observing
from support.servers import LabServer, installation_named, wait_until

SILENT = "the server did not answer when a segment ended"
ENDS_WITHIN_S = 45.0
"""A login and a log are given ten seconds each, a query of the samplers six."""


@pytest.fixture(scope="module")
def server_installation() -> Installation:
    """One version is enough: what is tried is on our side."""
    return installation_named("embedded-18")


@contextmanager
def hung(server: LabServer) -> Iterator[None]:
    """Every process of it stopped; connections are still taken, by the kernel."""
    data = server.cluster.workspace.data

    def running() -> list[psutil.Process]:
        found = [psutil.Process(pid) for pid in servers_below(data)]
        return [one for one in found if one.status() != psutil.STATUS_STOPPED]

    try:
        while left := running():  # one that was just forked may be new
            for one in left:
                one.send_signal(signal.SIGSTOP)
        yield
    finally:
        for pid in servers_below(data):
            psutil.Process(pid).send_signal(signal.SIGCONT)


def ticks(run: Path) -> list[int]:
    """Looks at the waits, by segment."""
    written = sorted((run / "segments").glob("0*/waits.parquet"))
    return [pq.read_metadata(path).num_rows for path in written]


def test_it_ends_in_time_and_keeps_what_it_saw(lab_server: LabServer, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with observing(lab_server, run, "--segment", "2s", "--duration", "10s") as process:
        wait_until(lambda: len(ticks(run)) >= 1, "a segment")
        with hung(lab_server):
            began = time.monotonic()
            told = ended(process)
            assert time.monotonic() - began < 10.0 + ENDS_WITHIN_S
    assert told["ended_by"] == "duration"
    assert ticks(run)[0] > 0
    assert any(SILENT in warning for warning in told["warnings"])
    assert sum(told["gaps_s"]) > 3
    assert (run / "report.html").is_file()


def test_it_goes_on_when_the_server_does_and_ctrl_c_is_heard_meanwhile(
    lab_server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with observing(lab_server, run, "--segment", "2s", "--duration", "1h") as process:
        wait_until(lambda: len(ticks(run)) >= 1, "a segment")
        with hung(lab_server):
            before = len(ticks(run))
            wait_until(lambda: 0 in ticks(run)[before:], "a segment that saw nothing")
            silent = len(ticks(run))
        wait_until(lambda: any(ticks(run)[silent:]), "a segment that saw something again")
        with hung(lab_server):
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            told = ended(process, ExitCode.INTERRUPTED)
            assert time.monotonic() - began < ENDS_WITHIN_S
    assert told["ended_by"] == "stopped"
    assert sum(told["gaps_s"]) > 3
