"""A server that stops answering does not stop the observation of it."""

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
from support.runs.broken import servers_below
from support.runs.observing import ended, observing
from support.servers.lab import LabServer, wait_until

ENDS_WITHIN_S = 45.0
"""A login and a log are given ten seconds each, a query of the samplers six."""
IMPATIENT = (
    "-c",
    "from pgassay.trials import observing; observing.ANSWERS_WITHIN_S = 1.0\n"
    "from pgassay.entry import main; main()",
)
"""The command with a second instead of ten for a query at the end of a segment."""


@contextmanager
def hung(server: LabServer) -> Iterator[None]:
    """Every process of the server is stopped; the kernel still accepts connections."""
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


def samples(run: Path) -> list[int]:
    """How many samples of the waits each written segment has."""
    written = sorted((run / "segments").glob("0*/waits.parquet"))
    return [pq.read_metadata(path).num_rows for path in written]


def test_an_observation_outlives_a_hung_server_and_ends_in_time_when_stopped(
    lab_server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    run, options = tmp_path / "run", ("--segment", "2s", "--duration", "1h")
    with observing(lab_server, run, *options, program=IMPATIENT) as process:
        wait_until(lambda: len(samples(run)) >= 1, "a segment")
        with hung(lab_server):
            before, since = len(samples(run)), time.monotonic()
            wait_until(lambda: 0 in samples(run)[before:], "a segment without a sample")
            wait_until(lambda: time.monotonic() > since + 7, "longer than the 5 s of a gap")
            silent = len(samples(run))
        wait_until(lambda: any(samples(run)[silent:]), "a segment with samples again")
        with hung(lab_server):
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            found = ended(process, ExitCode.INTERRUPTED)
            assert time.monotonic() - began < ENDS_WITHIN_S
    assert found["ended_by"] == "stopped"
    assert samples(run)[0] > 0
    assert sum(found["gaps_s"]) > 3
    assert (run / "report.html").is_file()


@pytest.mark.heavy
def test_an_observation_ends_after_its_duration_though_the_server_hangs(
    lab_server: LabServer, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with observing(lab_server, run, "--segment", "2s", "--duration", "5s") as process:
        wait_until(lambda: len(samples(run)) >= 1, "a segment")
        with hung(lab_server):
            began = time.monotonic()
            found = ended(process)
            assert time.monotonic() - began < 5.0 + ENDS_WITHIN_S
    assert found["ended_by"] == "duration"
    assert samples(run)[0] > 0
    silent = "the server did not answer when a segment ended"
    assert any(silent in warning for warning in found["warnings"])
