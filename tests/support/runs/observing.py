"""Busy sessions on a server, and a running `pgassay observe`.

Enters: a server. Leaves: sessions at work, the command's process and its result.
Never: outlives its test.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from support.runs.broken import TOOL
from support.runs.forked import Forked, begin
from support.servers.debian import DebianServer
from support.servers.lab import SECRET, LabServer, wait_until


@contextmanager
def busy_sessions(dsn: str, *statements: str) -> Iterator[None]:
    """A session for each statement that repeats it, and reconnects after a restart."""
    over = threading.Event()

    def work(statement: str) -> None:
        while not over.is_set():
            try:
                with psycopg.connect(dsn, autocommit=True) as session:
                    while not over.is_set():
                        session.execute(statement.encode())
            except psycopg.Error:
                over.wait(0.1)

    threads = [threading.Thread(target=work, args=(one,)) for one in statements]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@contextmanager
def observing(
    server: LabServer | DebianServer,
    out: Path,
    *options: str,
    user: str = "lab",
    program: Sequence[str] = TOOL,
) -> Iterator[Forked]:
    """A running `pgassay observe --json`, once its samplers have started."""
    where = server.place(user) if isinstance(server, LabServer) else server.dsn()
    words = [*program, "observe", where, "--json", "--out", str(out), *options]
    with begin(words, os.environ | {"PGPASSWORD": SECRET}) as process:
        wait_until(
            lambda: (out / "observation.json").exists() or process.poll() is not None,
            "an observation has begun",
        )
        yield process


def last_reading_ns(run: Path, source: str) -> int:
    """The time of the last reading of a source of the host in the written segments; 0 if none."""
    times = [0]
    for path in (run / "segments").glob("0*/host.parquet"):
        table = pq.read_table(path, columns=["time_ns", "source"])
        own = table.filter(pc.equal(table["source"].cast(pa.string()), source))
        times += own["time_ns"].to_pylist()[-1:]
    return max(times)


def ended(process: Forked, status: int = 0) -> dict[str, Any]:
    """The printed object, once the process has ended by itself."""
    out, errors = process.communicate(timeout=120)
    assert process.returncode == status, errors
    found: dict[str, Any] = json.loads(out)
    return found
