"""Provokes incidents under a steady load and observes them: `python -m bench.incidents OUT`.

Enters: a folder, a seed, how many repeats. Leaves: there an observation of each repeat, beside it
timeline.json: when each incident was. Never: judges what an observation says of them.

Time is compressed: a repeat has all incidents in random order, each between quiet times.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.incidents.provoke import INCIDENTS, dsn_of, run_sql
from bench.server import Server, running_server
from pgassay.server.owned.installation import installation_at

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
HERE = Path(__file__).parent
SETTINGS = {"shared_buffers": "64MB", "max_connections": "200"}
RATE, CLIENTS = 40, 12
_UNTIL_AT_WORK_S = 5.0


@contextmanager
def beside(command: Sequence[str | Path], log: Path) -> Iterator[None]:
    """A command of pgassay at work until the end, which it is asked for by SIGINT."""
    words = [sys.executable, "-m", "pgassay", *map(str, command)]
    with log.open("w") as file:
        at_work = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT)
        try:
            time.sleep(_UNTIL_AT_WORK_S)
            _refuse_ended(at_work, log)
            yield
            _refuse_ended(at_work, log)
        finally:
            at_work.send_signal(signal.SIGINT)
            at_work.wait(120)


def _refuse_ended(command: subprocess.Popen[bytes], log: Path) -> None:
    if command.poll() is not None:
        raise SystemExit(f"it ended too early: see {log}")


def one_repeat(server: Server, out: Path, asked: argparse.Namespace, seed: int) -> None:
    """Observes all incidents, in an order of their own, and writes when they were."""
    order = list(INCIDENTS if asked.only is None else asked.only)
    random.Random(seed).shuffle(order)
    dsn = dsn_of(server)
    script = HERE / "steady.sql"
    load = ["load", dsn, "-f", script, "-R", RATE, "-c", CLIENTS, "-T", 86400, "--no-vacuum"]
    load += ["--random-seed", seed]
    watch = ["observe", dsn, "--out", out, "--segment", f"{asked.segment}s"]
    timeline = []
    with ExitStack() as ends:
        ends.enter_context(beside([str(word) for word in load], out.with_suffix(".load.log")))
        ends.enter_context(beside([str(word) for word in watch], out.with_suffix(".log")))
        time.sleep(asked.quiet)
        for name in order:
            began_ns = time.time_ns()
            with INCIDENTS[name](server):
                time.sleep(asked.incident)
                ended_ns = time.time_ns()
            timeline.append({"name": name, "start_ns": began_ns, "end_ns": ended_ns})
            print(f"{out.name}: {name}", flush=True)
            time.sleep(asked.between)
    (out / "timeline.json").write_text(json.dumps(timeline, indent=1) + "\n")


def main() -> None:
    """As the command line asks."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out", type=Path)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--repeats", type=int, default=1)
    words.add_argument("--quiet", type=float, default=60.0, help="seconds before the first")
    words.add_argument("--incident", type=float, default=40.0)
    words.add_argument("--between", type=float, default=60.0)
    words.add_argument("--segment", type=int, default=60)
    words.add_argument("--only", nargs="*", choices=list(INCIDENTS), help="none: quiet throughout")
    words.add_argument("--setting", nargs="*", default=[], help="of the server, as NAME=VALUE")
    asked = words.parse_args()
    settings = SETTINGS | dict(one.split("=", 1) for one in asked.setting)
    asked.out.mkdir(parents=True, exist_ok=True)
    for repeat in range(asked.repeats):
        with running_server(installation_at(PROGRAMS), settings) as server:
            run_sql(server, *(HERE / "tables.sql").read_text("utf-8").split(";")[:-1])
            seed = asked.seed + repeat
            one_repeat(server, asked.out / f"repeat-{seed}", asked, seed)


if __name__ == "__main__":
    main()
