"""The engine beside pgbench, on one server and one machine: `make bench`.

Enters: which parts, how many rounds. Leaves: docs/measured/benchmarks.md. Never: asserts anything;
a figure taken while others used the machine is marked.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench import MEASURED
from bench.comparison import alternate
from bench.engine.page import Part, write_page
from bench.engine.processes import Sample, Shape, run_command, run_engine, run_pgbench
from bench.server import Server, running_server

OUTPUT = MEASURED / "benchmarks.md"
TRANSPORTS = ("io_uring", "epoll")
BUSY_POLL_US = 50
# Scripts, clients, and how many times the usual length: pgbench's -T runs while it still connects
# and prepares, so a thousand clients need longer for the same.
SPEED = [
    ("select-only", 8, 1.0),
    ("select-only", 64, 1.0),
    ("select-only", 1000, 2.0),
    ("tpcb-like", 8, 1.0),
]
PINNED = [("select-only", 8), ("select-only", 64)]
PARTS = ("speed", "pinned", "intervals", "agreement", "command")
LEAST_PROCESSORS_TO_PIN = 2


def main() -> None:
    """Run the parts asked for and write the page."""
    options = parse_options()
    with running_server() as server:
        parts = [
            part
            for name in options.parts
            for part in BENCHES[name](server, options.rounds, options.seconds)
        ]
        write_page(options.out, parts, server, options.rounds, options.seconds)
    print(f"written: {options.out}", file=sys.stderr)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program [5]")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each run [5]")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    return parser.parse_args()


def bench_speed(server: Server, rounds: int, seconds: float) -> list[Part]:
    """Processor time and throughput, programs free to move."""
    return [
        compare("speed", server, Shape(name, clients, seconds * times), rounds)
        for name, clients, times in SPEED
    ]


def bench_pinned(server: Server, rounds: int, seconds: float) -> list[Part]:
    """The client on one processor, the server on the others."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < LEAST_PROCESSORS_TO_PIN:
        return []
    client, *rest = processors
    server.pin(rest)
    try:
        shapes = [Shape(name, clients, seconds, processors=(client,)) for name, clients in PINNED]
        return [
            compare("pinned", server, shape, rounds, polls=(0, BUSY_POLL_US)) for shape in shapes
        ]
    finally:
        server.pin(processors)


def compare(
    kind: str, server: Server, shape: Shape, rounds: int, polls: tuple[int, ...] = (0,)
) -> Part:
    """pgbench and both transports, and what each needs to start."""
    report(f"{kind}: {shape.scenario}, {shape.clients} clients")
    start = shape.start_alone()
    starts = {"pgbench": least_cpu(run_pgbench(server, start) for _ in range(2))}
    runners: dict[str, Callable[[], Sample]] = {"pgbench": partial(run_pgbench, server, shape)}
    for transport, poll_us in itertools.product(TRANSPORTS, polls):
        name = f"{transport}, busy poll {poll_us} µs" if poll_us else transport
        starts[name] = least_cpu(run_engine(server, start, transport) for _ in range(2))
        polling = replace(shape, busy_poll_us=poll_us)
        runners[name] = partial(run_engine, server, polling, transport)
    return Part(kind, shape, alternate(runners, rounds), starts)


def bench_intervals(server: Server, rounds: int, seconds: float) -> list[Part]:
    """The cost of intervals of 100 ms against those of a second."""
    report("intervals: select-only, 64 clients")
    runners = {}
    for interval_s in (1.0, 0.1):
        shape = Shape("select-only", 64, seconds, interval_s=interval_s)
        runners[f"{interval_s:g} s"] = partial(run_engine, server, shape, "io_uring")
    shape = Shape("select-only", 64, seconds)
    return [Part("intervals", shape, alternate(runners, rounds), {})]


def bench_agreement(server: Server, rounds: int, seconds: float) -> list[Part]:
    """Whether both programs report the same of a server with known delays."""
    report("agreement: 10 ms of sleep, 8 clients")
    shape = Shape("sleep", 8, seconds)
    runners = {
        "pgbench": partial(run_pgbench, server, shape),
        "io_uring": partial(run_engine, server, shape, "io_uring"),
        "epoll": partial(run_engine, server, shape, "epoll"),
    }
    return [Part("agreement", shape, alternate(runners, rounds), {})]


def bench_command(server: Server, rounds: int, seconds: float) -> list[Part]:
    """`pgassay load` as a whole, with the start of its interpreter."""
    report("command: select-only, 64 clients")
    shape = Shape("select-only", 64, seconds)
    runners = {
        "pgbench": partial(run_pgbench, server, shape),
        "pgassay load": partial(run_command, server, shape),
    }
    return [Part("command", shape, alternate(runners, rounds), {})]


def least_cpu(samples: Iterable[Sample]) -> float:
    """The smallest of several start-up costs: anything above it is noise."""
    return min(sample.cpu_s for sample in samples)


def report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


BENCHES = {
    "speed": bench_speed,
    "pinned": bench_pinned,
    "intervals": bench_intervals,
    "agreement": bench_agreement,
    "command": bench_command,
}

if __name__ == "__main__":
    main()
