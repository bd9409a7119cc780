"""Checkpoints from the counters of real servers, where the log does not have them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgassay.server.connection.session import resolve
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.trials.checkpoints.combined import CheckpointFollower
from pgassay.trials.model.record import Checkpoint
from pgassay.trials.sampling.samplers import open_sampler
from pgassay.trials.server_log.reader import LogReading, ServerLog
from support.servers.lab import LabServer, running_lab_server, running_standby, wait_until
from support.servers.pool import on_every_version

NO_LOG = LogReading(None, has_checkpoints=False)


class Counted:
    """The checkpoints that the samplers' counters have reported of so far."""

    def __init__(self, server: LabServer, log: ServerLog | None) -> None:
        with server.admin() as session:
            self.version_num = session.info.server_version
        self._sampler, _ = open_sampler(resolve(server.dsn()), self.version_num, load=None)
        self.follower = CheckpointFollower()
        self._log, self._read = log, 0
        self.found: list[Checkpoint] = []

    def look(self) -> list[Checkpoint]:
        counters = self._sampler.take_counters()
        self._read += len({at for at, source in zip(counters["time_ns"], counters["source"],
                           strict=True) if source == "checkpointer"})  # fmt: skip
        self.follower.count(counters)
        if self._log is None:
            self.found += self.follower.end_period(NO_LOG, last=False).checkpoints
        return self.found

    def read_on(self, times: int) -> None:
        """Until the counters were read so often again."""
        until = self._read + times
        wait_until(lambda: self.look() is not None and self._read >= until, "further readings")

    def stop(self) -> None:
        self._sampler.stop()


@contextmanager
def counting(server: LabServer, log: ServerLog | None = None) -> Iterator[Counted]:
    """With a log, what was counted waits to be reported with what was read of it."""
    counted = Counted(server, log)
    try:
        counted.read_on(1)
        yield counted
    finally:
        counted.stop()


@on_every_version
def test_a_forced_checkpoint_is_counted_once(lab_server: LabServer) -> None:
    with counting(lab_server) as counted:
        with lab_server.admin() as session:
            session.execute("CREATE TABLE IF NOT EXISTS written AS SELECT 1")
            session.execute("CHECKPOINT")
        wait_until(lambda: bool(counted.look()), "a counted checkpoint")
        counted.read_on(3)
        assert [(one.cause, one.restartpoint) for one in counted.found] == [("requested", False)]


@on_every_version
def test_a_restartpoint_of_a_standby_is_counted_once(
    lab_server: LabServer, account: Account, servers_base: Path
) -> None:
    with (
        running_standby(lab_server, account, servers_base) as standby,
        counting(standby) as counted,
        lab_server.admin() as primary,
    ):
        primary.execute("CREATE TABLE restarted AS SELECT generate_series(1, 1000)")
        primary.execute("CHECKPOINT")
        row = primary.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert row is not None

        def replayed() -> bool:
            with standby.admin() as session:
                sql = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
                return session.execute(sql, row).fetchone() == (True,)

        wait_until(replayed, "the primary's checkpoint on the standby")
        with standby.admin() as session:
            session.execute("CHECKPOINT")
        wait_until(lambda: bool(counted.look()), "a counted restartpoint")
        counted.read_on(3)
        # Before 17 the server counts both as one.
        apart = counted.version_num >= 170000
        assert [(one.cause, one.restartpoint) for one in counted.found] == [("requested", apart)]
        primary.execute("DROP TABLE restarted")


COLLECTOR = """
logging_collector = on
log_filename = 'server.log'
log_destination = 'csvlog'
log_checkpoints = on
"""


def cut_short(server: LabServer) -> None:
    """As logrotate's copytruncate does, after a checkpoint that nobody has read of yet."""
    with server.admin() as session:
        session.execute("CHECKPOINT")
    wait_until(lambda: log_of(server).read_text().count("checkpoint complete") == 2, "both ends")
    os.truncate(log_of(server), 0)


def grow_too_fast(server: LabServer) -> None:
    """Beyond what is read at a time, before the checkpoint."""
    with server.admin() as session:
        session.execute(
            "DO $$ BEGIN FOR n IN 1..34 LOOP RAISE LOG '%', repeat('x', 1048576); END LOOP; END $$"
        )
        session.execute("CHECKPOINT")


def log_of(server: LabServer) -> Path:
    return server.cluster.workspace.data / "log" / "server.csv"


@pytest.mark.parametrize("lose", [cut_short, grow_too_fast])
def test_a_checkpoint_missing_from_the_log_is_taken_from_the_counters(
    server_installation: Installation,
    account: Account,
    servers_base: Path,
    lose: Callable[[LabServer], None],
) -> None:
    with running_lab_server(server_installation, account, servers_base, COLLECTOR) as server:
        log = ServerLog(server.admin, "127.0.0.1")
        with counting(server, log) as counted:
            with server.admin() as session:
                session.execute("CHECKPOINT")
            wait_until(lambda: "checkpoint complete" in log_of(server).read_text(), "its end")
            first = counted.follower.end_period(log.read(goes_on=True), last=False)
            assert [one.buffers is not None for one in first.checkpoints] == [True]
            # Two within one reading would be counted as one.
            counted.read_on(2)
            lose(server)
            counted.read_on(2)
            reported = counted.follower.end_period(log.read(), last=True)
    assert [(one.cause, one.buffers) for one in reported.checkpoints] == [("requested", None)]
    assert reported.source == "both"
    assert reported.notes[0].code == "trials/checkpoints/gaps"
