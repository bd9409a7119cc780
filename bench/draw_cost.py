"""What drawing costs a server that it reads: `python -m bench.draw_cost OUT`.

Enters: a file, how long drawings read. Leaves: there a page with the processor time of `pgassay
draw`, and that of the server on its behalf. Never: asserts anything.

Throughput would say it less well: beside a load that takes all of two processors it scatters by
several per cent from minute to minute, and a drawing of ten minutes takes a few seconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil

from bench.incidents.provoke import dsn_of
from bench.machine import this_machine
from bench.own_load.applications import DEBIAN, application, clients, pgassay
from bench.server import Server
from bench.tables import page, table

CLIENTS = 4
PAUSE_S = 0.2
"""Between the pages of a client: a load to draw that does not hide what drawing costs."""
WARMUP_S = 5.0
LONG_S = 86_400.0
"""Longer than all turns; the clients end with them."""
TEN_MINUTES_S = 600.0
"""What `pgassay draw` reads unless `--for` says otherwise."""


def server_cpu_s(server: Server) -> float:
    """Processor time that the server and all its processes, ended ones included, have used."""
    postmaster = psutil.Process(server.pid)
    used = sum(postmaster.cpu_times()[:4])
    for process in postmaster.children():
        try:
            used += sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue  # counted by the postmaster from now on
    return used


def turns(server: Server, folder: Path, seconds: float, pairs: int) -> Iterator[tuple[float, ...]]:
    """For each drawing the seconds it took, its processor time, and the server's beyond what the
    load alone takes of it in the same time before."""
    for pair in range(pairs):
        alone = server_cpu_s(server)
        time.sleep(seconds)
        alone = (server_cpu_s(server) - alone) / seconds
        began, cpu = time.time(), server_cpu_s(server)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = folder / f"drawn-{seconds:g}-{pair}"
        pgassay("draw", dsn_of(server), "--for", f"{seconds:g}s", "--out", out)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = time.time() - began
        own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        yield took, own, server_cpu_s(server) - cpu - alone * took


def main() -> None:
    """As the command line asks."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("out", type=Path, help="the page")
    words.add_argument("--programs", type=Path, default=DEBIAN)
    words.add_argument("--pairs", type=int, default=3, help="of turns with and without it [3]")
    words.add_argument("--quick", action="store_true", help="a minute, to try the bench")
    asked = words.parse_args()
    lengths = (5.0, 10.0) if asked.quick else (15.0, 90.0)
    pairs = 1 if asked.quick else asked.pairs
    with (
        tempfile.TemporaryDirectory() as folder,
        application("shop", asked.programs) as server,
        clients(dsn_of(server), LONG_S, CLIENTS, PAUSE_S) as at_work,
    ):
        time.sleep(WARMUP_S)
        found = {each: list(turns(server, Path(folder), each, pairs)) for each in lengths}
        if at_work.poll() is not None:
            raise SystemExit("the load ended before the last turn")
    medians = {
        each: [statistics.median(one) for one in zip(*own, strict=True)]
        for each, own in found.items()
    }
    first, last = (sum(medians[each][1:]) for each in lengths)
    each_s = (last - first) / (lengths[1] - lengths[0])
    whole = last + each_s * (TEN_MINUTES_S - lengths[1])
    share = 100.0 * whole / (TEN_MINUTES_S * (os.cpu_count() or 1))
    rows = [
        (f"{each:g} s", f"{took:.1f}", f"{own:.1f}", f"{theirs:.1f}")
        for each, (took, own, theirs) in medians.items()
    ]
    about = (
        "Processor time of `pgassay draw`, and of the server on its behalf: that of the server in"
        " each drawing less that of the same time without it, beside"
        f" {CLIENTS} clients of a web shop. Medians of {pairs} turns."
        f" {datetime.now(UTC):%Y-%m-%d}, {this_machine()}; PostgreSQL {server.version}. Made by"
        " `python -m bench.draw_cost`.\n\nA drawing of ten minutes takes"
        f" {whole:.1f} s by these figures: {share:.2f} % of this machine's processors, where all"
        " of it runs on the server's machine."
    )
    head = ("draw --for", "took, s", "processor time of draw, s", "of the server, s")
    title = "What drawing costs the server that it reads"
    asked.out.write_text(page(title, about, {"": table(head, rows)}), "utf-8")


if __name__ == "__main__":
    main()
