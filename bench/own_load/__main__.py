"""Draws a web shop's load and runs it on a copy: `python -m bench.own_load OUT`.

Enters: a folder, programs of PostgreSQL, how long. Leaves: there the workload as drawn from the
statistics, and from the log, a run of each on a copy of the server, and how they differ from the
source. Never: shows the workload the code of the clients.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.incidents.provoke import dsn_of
from bench.server import Server, running_server
from pgassay.server.connection.session import connect
from pgassay.server.owned.installation import embedded_installation, installation_at

HERE = Path(__file__).parent
DEBIAN = Path("/usr/lib/postgresql/15/bin")
PREFIX = "%n [%p] %e %b %q%u@%d "
SETTINGS = {
    "shared_buffers": "64MB",
    "shared_preload_libraries": "pg_stat_statements",
    "log_min_duration_statement": "0",
}


@contextmanager
def shop(programs: Path | None) -> Iterator[Server]:
    """A server with the shop's tables, gone at the end."""
    installation = embedded_installation(18) if programs is None else installation_at(programs)
    with running_server(installation, SETTINGS) as server:
        with connect(server.parameters, keeps_path=True, statement_limit_s=0) as session:
            session.execute((HERE / "schema.sql").read_bytes())
        yield server


@contextmanager
def clients(dsn: str, seconds: float, number: int) -> Iterator[subprocess.Popen[bytes]]:
    """The shop's clients at work, ended at the end."""
    words = [sys.executable, "-m", "bench.own_load.client", dsn]
    words += ["--seconds", str(seconds), "--clients", str(number), "--pause", "0.02"]
    at_work = subprocess.Popen(words)
    try:
        yield at_work
        at_work.wait(seconds + 60)
    finally:
        at_work.terminate()
        at_work.wait(30)


def pgassay(*words: str | Path) -> str:
    """What a command prints; the bench ends where it fails."""
    command = [sys.executable, "-m", "pgassay", *map(str, words)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    print("$ pgassay", *words, "\n", done.stdout, done.stderr, sep=" ", flush=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    return done.stdout


def short(folder: Path, name: str, step_s: float) -> Path:
    """An experiment of a drawn folder, in two blocks, beside its source."""
    text = (folder / name).read_text("utf-8")
    for before, after in (
        ('step = "60s"', f'step = "{step_s:g}s"\nwarmup = "5s"'),
        ("[design]", "[design]\nmin_blocks = 2\nmax_blocks = 2"),
        ('# accept = ["sessions", "commits"]', 'accept = ["sessions", "commits"]'),
    ):
        text = text.replace(before, after)
    path = folder / f"short-{name}"
    path.write_text(text)
    return path


def check(folder: Path, step_s: float) -> None:
    """Runs the workload on copies, and compares the run with the source."""
    run = folder.with_name(f"{folder.name}-run")
    pgassay("run", short(folder, "experiment.toml", step_s), "--out", run, "--plain")
    pgassay("draw", "--check", run)


def main() -> None:
    """As the command line asks."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out", type=Path)
    words.add_argument("--programs", type=Path, default=DEBIAN)
    words.add_argument("--embedded", action="store_true", help="PostgreSQL 18, not the programs")
    words.add_argument("--seconds", type=float, default=120.0)
    words.add_argument("--step", type=float, default=30.0)
    words.add_argument("--clients", type=int, default=4)
    asked = words.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with shop(None if asked.embedded else asked.programs) as server:
        dsn = dsn_of(server)
        statistics, logged = asked.out / "statistics", asked.out / "log"
        (written,) = Path(server.facts.data_directory or "").parent.glob("*.log")
        before = written.stat().st_size
        with clients(dsn, asked.seconds + 20, asked.clients):
            pgassay("draw", dsn, "--for", f"{asked.seconds:g}s", "--out", statistics)
        log = asked.out / "server.log"
        log.write_bytes(written.read_bytes()[before:])
        pgassay("draw", dsn, "--log", log, "--prefix", PREFIX, "--trace", "--out", logged)
        check(statistics, asked.step)
        check(logged, asked.step)
        replay = short(logged, "replay.toml", asked.step)
        pgassay("run", replay, "--out", asked.out / "replay-run", "--plain")


if __name__ == "__main__":
    main()
