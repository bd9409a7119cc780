"""Clients of an application, as one would be written: `python -m bench.own_load.client DSN`.

Enters: a server with the application's tables, how many clients, how long, how long they think.
Leaves: the load, one line of JSON about it, and on request a log of its pages as pgbench -l writes
one. Never: knows of pgassay.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.own_load.pages import airline, orders, shop
from bench.own_load.pages.page import Pages

PAGES: Mapping[str, Pages] = {"shop": shop.PAGES, "orders": orders.PAGES, "airline": airline.PAGES}


@dataclass(frozen=True)
class Work:
    """What one client does."""

    dsn: str
    pages: str
    number: int
    seed: int
    until: float
    pause_s: float
    log: Path | None
    """Begins the names of the clients' logs."""


def one_client(work: Work) -> int:
    """Runs pages until the time, or SIGTERM; returns how many."""
    chance = random.Random(work.seed * 1000 + work.number)
    lines, stops = list[str](), list[int]()
    signal.signal(signal.SIGTERM, lambda number, frame: stops.append(number))
    calls, weights = zip(*PAGES[work.pages], strict=True)
    numbers = range(len(calls))
    with psycopg.connect(work.dsn, autocommit=True, application_name=work.pages) as session:
        while time.time() < work.until and not stops:
            (which,) = chance.choices(numbers, weights)
            began = time.perf_counter_ns()
            calls[which](session, chance)
            took_us = (time.perf_counter_ns() - began) // 1000
            seconds, fraction = divmod(time.time_ns(), 1_000_000_000)
            place = f"{which} {seconds} {fraction // 1000}"
            lines.append(f"{work.number} {len(lines)} {took_us} {place}\n")
            if work.pause_s:
                time.sleep(chance.expovariate(1 / work.pause_s))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if work.log is not None:
        Path(f"{work.log}.{work.number + 1}").write_text("".join(lines))
    return len(lines)


def main() -> None:
    """Runs all clients."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("dsn")
    words.add_argument("--pages", choices=tuple(PAGES), default="shop")
    words.add_argument("--clients", type=int, default=4)
    words.add_argument("--seconds", type=float, default=30)
    words.add_argument("--pause", type=float, default=0.0, help="mean seconds between two pages")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--log", type=Path, help="begins the names of logs as pgbench -l writes")
    asked = words.parse_args()
    until = time.time() + asked.seconds
    shares = [
        Work(asked.dsn, asked.pages, number, asked.seed, until, asked.pause, asked.log)
        for number in range(asked.clients)
    ]
    with multiprocessing.Pool(asked.clients) as clients:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the clients end, and are waited for
        done = sum(clients.map(one_client, shares, chunksize=1))
    print(json.dumps({"transactions": done, "tps": done / asked.seconds}))


if __name__ == "__main__":
    main()
