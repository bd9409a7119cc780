"""Times of reads are measured where track_io_timing is on, and reported as missing where off."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pgassay.server.connection.session import resolve
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.trials.sampling.not_measured import not_measured
from pgassay.trials.sampling.samplers import open_sampler
from support.runs.observing import busy_sessions
from support.servers.lab import LabServer, running_lab_server, wait_until

READ = "SELECT count(*) FROM large WHERE pad > 'y'"
FEW_READS = 1000


@pytest.fixture(scope="module")
def reading_server(server_installation: Installation, account: Account) -> Iterator[LabServer]:
    """Its table is far larger than its buffers."""
    with tempfile.TemporaryDirectory(prefix="pgassay-test-", dir="/var/tmp") as base:
        Path(base).chmod(0o711)
        few = "shared_buffers = '128kB'\nmax_connections = 50\n"
        with running_lab_server(server_installation, account, Path(base), few) as server:
            with server.admin() as session:
                session.execute(
                    "CREATE TABLE large AS SELECT repeat('x', 500) AS pad"
                    " FROM generate_series(1, 40000)"
                )
            yield server


class Growth:
    """By how much counters of a source have grown since they were first read."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, str], float] = {}
        self._last: dict[tuple[str, str, str], float] = {}

    def add(self, columns: dict[str, list[object]]) -> None:
        rows = zip(*(columns[n] for n in ("source", "object", "name", "value")), strict=True)
        for source, thing, name, value in rows:
            key = (str(source), str(thing), str(name))
            self._first.setdefault(key, float(str(value)))
            self._last[key] = float(str(value))

    def of(self, source: str, name: str) -> float:
        return sum(
            self._last[key] - first
            for key, first in self._first.items()
            if (key[0], key[2]) == (source, name)
        )


@pytest.mark.parametrize("timing", ["on", "off"])
def test_read_times_are_measured_where_track_io_timing_is_on(
    reading_server: LabServer, timing: str
) -> None:
    server, growth = reading_server, Growth()
    with server.admin() as session:
        version = session.info.server_version
        session.execute(f"ALTER ROLE lab SET track_io_timing = {timing}".encode())
    sampler, _ = open_sampler(resolve(server.dsn()), version, load=None)

    def has_read() -> bool:
        growth.add(sampler.take_counters())
        timed = growth.of("database", "blk_read_time_ms") > 0 or timing == "off"
        return growth.of("database", "blks_read") > FEW_READS and timed

    try:
        with busy_sessions(server.dsn(), READ):
            wait_until(has_read, "blocks read, and their time where it is taken")
    finally:
        sampler.stop()
    growth.add(sampler.take_counters())
    assert (growth.of("database", "blk_read_time_ms") > 0) == (timing == "on")
    if version >= 160000:
        assert growth.of("io", "reads") > 0
        assert (growth.of("io", "read_time_ms") > 0) == (timing == "on")
    with psycopg.connect(server.dsn()) as session:
        missed = {check.name for check in not_measured(session)}
    assert ("I/O timing" in missed) == (timing == "off")
