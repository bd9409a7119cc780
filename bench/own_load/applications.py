"""The applications of the benches: their servers, their clients at work, what is logged.

Enters: an application's name, programs of PostgreSQL, how long, how many clients. Leaves: a running
server with the application's tables, clients that end with the context, what the server logged
meanwhile. Never: measures.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.server import Server, running_server
from pgassay.server.connection.session import connect
from pgassay.server.owned.installation import embedded_installation, installation_at

HERE = Path(__file__).parent
CLIENT = ("env", f"PYTHONPATH={HERE.parents[1]}", sys.executable, "-m", "bench.own_load.client")
DEBIAN = Path("/usr/lib/postgresql/15/bin")
PREFIX = "%n [%p] %e %b %q%u@%d "
ROLE = "app"
"""As which an application's clients connect, so that `draw --user` takes their statements alone."""
SETTINGS = {
    "shared_buffers": "64MB",
    "shared_preload_libraries": "pg_stat_statements",
    "log_min_duration_statement": "0",
}
_TABLES = {
    "shop": ("pgbench", 1),
    "orders": ("orders", 2),
    "airline": ("airline", 1),
    "pgbench": ("pgbench", 10),
}
"""Whose tables an application has: the workload of that name, and its scale."""


@contextmanager
def application(name: str, programs: Path | None) -> Iterator[Server]:
    """A server with the application's tables, gone at the end; the embedded 18 without programs."""
    installation = embedded_installation(18) if programs is None else installation_at(programs)
    data, scale = _TABLES[name]
    with running_server(installation, SETTINGS, data, scale) as server:
        with connect(server.parameters, keeps_path=True, statement_limit_s=0) as session:
            session.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            session.execute(f"CREATE ROLE {ROLE} SUPERUSER LOGIN".encode())
            if name == "shop":
                session.execute((HERE / "schema.sql").read_bytes())
        yield server


def _command(name: str, dsn: str, seconds: float, number: int, pause_s: float) -> Sequence[str]:
    if name == "pgbench":
        rate = number / pause_s if pause_s else 0
        return [
            str(DEBIAN / "pgbench"), "-n", "-M", "prepared", "-f", f"{HERE / 'zipfian.sql'}@4",
            "-f", f"{HERE / 'zipfian-read.sql'}@6", "-s", str(_TABLES[name][1]), "-c", str(number),
            "-T", f"{seconds:.0f}", *(["-R", f"{rate:g}"] if rate else []), dsn,
        ]  # fmt: skip
    words = [*CLIENT, dsn, "--pages", name]
    words += ["--seconds", str(seconds), "--clients", str(number), "--pause", str(pause_s)]
    return words


@contextmanager
def clients(
    dsn: str,
    seconds: float,
    number: int,
    pause_s: float,
    log: Path | None = None,
    name: str = "shop",
) -> Iterator[subprocess.Popen[bytes]]:
    """The application's clients at work; with a context shorter than their time they end with it.
    `pause_s` is the mean pause of a client between two pages."""
    words = [*_command(name, dsn, seconds, number, pause_s)]
    words += [] if log is None else ["--log", str(log)]
    at_work = subprocess.Popen(words, start_new_session=True)
    try:
        yield at_work
    finally:
        if at_work.poll() is None:
            os.killpg(at_work.pid, signal.SIGTERM)
        at_work.wait(30)


@contextmanager
def logged(server: Server, path: Path) -> Iterator[None]:
    """Writes what the server logs meanwhile to a file."""
    (log,) = Path(server.facts.data_directory or "").parent.glob("*.log")
    before = log.stat().st_size
    yield
    with log.open("rb") as source:
        source.seek(before)
        path.write_bytes(source.read())


def pgassay(*words: str | Path) -> str:
    """What a command prints; the bench ends where it fails."""
    command = [sys.executable, "-m", "pgassay", *map(str, words)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    print("$ pgassay", *words, "\n", done.stdout, done.stderr, sep=" ", flush=True)
    # 1 is what a run without a verdict ends with.
    if done.returncode > ("run" in words):
        raise SystemExit(done.returncode)
    return done.stdout
