"""What tests of observations need: a load that is nobody's trial, and the command at work.

Enters: a server. Leaves: sessions that do something, a running `pgassay observe`.
Never: outlives its test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from support.servers import SECRET, LabServer, wait_until


@contextmanager
def busy_sessions(server: LabServer, statement: str, count: int = 2) -> Iterator[None]:
    """Sessions that do one statement over and over, and come back when the server does."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            try:
                with psycopg.connect(server.dsn(), autocommit=True) as session:
                    while not over.is_set():
                        session.execute(statement.encode())
            except psycopg.Error:
                over.wait(0.1)

    threads = [threading.Thread(target=work) for _ in range(count)]
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
    server: LabServer, out: Path, *options: str, user: str = "lab"
) -> Iterator[subprocess.Popen[str]]:
    """`pgassay observe --json` at work, once its samplers are."""
    where = f"host=127.0.0.1 port={server.port} user={user} dbname=lab"
    process = subprocess.Popen(
        [sys.executable, "-m", "pgassay", "observe", where, "--json", "--out", out, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PGPASSWORD": SECRET},
    )
    try:
        wait_until(
            lambda: (out / "observation.json").exists() or process.poll() is not None,
            "an observation has begun",
        )
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], status: int = 0) -> dict[str, Any]:
    """Its object, when it has ended by itself."""
    out, errors = process.communicate(timeout=120)
    assert process.returncode == status, errors
    found: dict[str, Any] = json.loads(out)
    return found
