"""What drawing costs a load that it reads beside: `python -m bench.draw_cost OUT`.

Enters: a file, how long a drawing reads, how many pairs of turns. Leaves: there a page with the
throughput of a web shop's clients beside `pgassay draw` against that without, and the processor
time of the drawing. Never: asserts anything.

The clients work without a pause, so that whatever the drawing takes they lose. Turns with and
without it follow each other in the order ABBA and last equally long.
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.incidents.provoke import dsn_of
from bench.machine import this_machine
from bench.own_load.shop import DEBIAN, clients, pgassay, shop
from bench.tables import mean_ratio, page, table

CLIENTS = 4
WARMUP_S = 5.0
LONG_S = 86_400.0
"""Longer than all turns; the clients end with them."""


def turn(dsn: str, out: Path, seconds: float) -> tuple[float, float]:
    """Draws once; returns how long that took, and the processor time of the command (s)."""
    began, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    pgassay("draw", dsn, "--for", f"{seconds:g}s", "--out", out)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.time() - began, used_s


def ends_of(logs: Path) -> np.ndarray:
    """When each page of the clients ended (s), from logs as pgbench -l writes them."""
    lines = [np.loadtxt(log, usecols=(4, 5), ndmin=2) for log in logs.parent.glob(f"{logs.name}.*")]
    return np.concatenate([found[:, 0] + found[:, 1] / 1e6 for found in lines])


def main() -> None:
    """As the command line asks."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("out", type=Path, help="the page")
    words.add_argument("--programs", type=Path, default=DEBIAN)
    words.add_argument("--seconds", type=float, default=60.0, help="draw --for [60]")
    words.add_argument("--pairs", type=int, default=8, help="of turns with and without it [8]")
    words.add_argument("--quick", action="store_true", help="a minute, to try the bench")
    asked = words.parse_args()
    if asked.quick:
        asked.seconds, asked.pairs = 5.0, 2
    turns = list[tuple[bool, float, float]]()
    costs = list[tuple[float, float]]()
    with tempfile.TemporaryDirectory() as folder, shop(asked.programs) as server:
        dsn, log = dsn_of(server), Path(folder, "pages")
        with clients(dsn, LONG_S, CLIENTS, 0.0, log) as at_work:
            time.sleep(WARMUP_S)
            for pair in range(asked.pairs):
                # The first of a pair without drawing lasts as long as the one before it did.
                for drawing in (True, False) if pair % 2 == 0 else (False, True):
                    began = time.time()
                    if drawing:
                        costs.append(turn(dsn, Path(folder, f"drawn-{pair}"), asked.seconds))
                    else:
                        time.sleep(costs[-1][0])
                    turns.append((drawing, began, time.time()))
            if at_work.poll() is not None:
                raise SystemExit("the load ended before the last turn")
        ends = ends_of(log)
    tps = [
        (drawing, np.count_nonzero((ends >= start) & (ends < end)) / (end - start))
        for drawing, start, end in turns
    ]
    beside = [figure for drawing, figure in tps if drawing]
    alone = [figure for drawing, figure in tps if not drawing]
    ratio = mean_ratio([math.log(one / other) for one, other in zip(beside, alone, strict=True)])
    cost = [100 * (1 - share) for share in (ratio[0], ratio[2], ratio[1])]
    about = (
        f"Throughput of {CLIENTS} clients of a web shop without pauses while `pgassay draw --for"
        f" {asked.seconds:g}s` reads their server on the same machine, against that without:"
        f" {asked.pairs} pairs of turns. {datetime.now(UTC):%Y-%m-%d}, {this_machine()};"
        f" PostgreSQL {server.version}. Made by `python -m bench.draw_cost`."
    )
    cells = (
        f"{statistics.fmean(alone):.0f}",
        f"{statistics.fmean(beside):.0f}",
        f"{cost[0]:.2f} % ({cost[1]:.2f} to {cost[2]:.2f})",
        f"{statistics.median(took for took, _ in costs):.1f}",
        f"{statistics.median(used for _, used in costs):.1f}",
    )
    head = ("alone, 1/s", "beside, 1/s", "cost (95 %)", "draw, s", "CPU of draw, s")
    title = "What drawing costs the load that it reads"
    asked.out.write_text(page(title, about, {"": table(head, [cells])}), "utf-8")


if __name__ == "__main__":
    main()
