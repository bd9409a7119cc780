"""Draws a web shop's load and runs it on a copy: `python -m bench.own_load OUT`.

Enters: a folder, programs of PostgreSQL, how long. Leaves: there the workload as drawn from the
statistics, and from the log, a run of each on a copy of the server, and how they differ from the
source. Never: shows the workload the code of the clients.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.incidents.provoke import dsn_of
from bench.own_load.shop import DEBIAN, PREFIX, clients, logged, pgassay, shop


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
        statistics, of_log = asked.out / "statistics", asked.out / "log"
        log = asked.out / "server.log"
        with logged(server, log), clients(dsn, asked.seconds + 60, asked.clients, 0.02):
            pgassay("draw", dsn, "--for", f"{asked.seconds:g}s", "--out", statistics)
        pgassay("draw", dsn, "--log", log, "--prefix", PREFIX, "--trace", "--out", of_log)
        check(statistics, asked.step)
        check(of_log, asked.step)
        replay = short(of_log, "replay.toml", asked.step)
        pgassay("run", replay, "--out", asked.out / "replay-run", "--plain")


if __name__ == "__main__":
    main()
