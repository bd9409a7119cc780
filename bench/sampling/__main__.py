"""What an experiment's samplers cost: throughput with them and without, CPU and memory.

Enters: how much of it. Leaves: docs/measured/sampling-costs.md, or one table of it on stdout.
Never: asserts anything.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench import MEASURED, machine
from bench.comparison import alternate
from bench.engine.processes import Sample, Shape, run_sampled
from bench.sampling.alternating import Turns, take_turns
from bench.server import SCALE, SETTINGS, Server, running_server

OUTPUT = MEASURED / "sampling-costs.md"
LOADS = (("select-only", 64), ("simple-update", 64))
ROUNDS = {"select-only": 80, "simple-update": 240}
"""Turns with and without; what waits for a disk scatters more."""
STORED = ("load", "waits", "postgres", "host")
DAY_S = 86_400
BACKENDS = {100: "1 %", 1000: "5 %"}
"""Sessions to the most of a core that was promised."""


@dataclass(frozen=True)
class Pair:
    """Runs without and with samplers, side by side."""

    shape: Shape
    samples: Mapping[str, Sequence[Sample]]


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the turns [1]")
    parser.add_argument("--pairs", type=int, default=3, help="pairs of runs for memory [3]")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each such run [8]")
    parser.add_argument("--stored-seconds", type=float, default=60.0, help="what is stored [60]")
    parser.add_argument("--alone", action="store_true", help="print processor and memory alone")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()

    def alone_on(server: Server) -> list[Pair]:
        shapes = (Shape("select-only", clients, options.seconds) for clients in BACKENDS)
        return [paired(server, shape, options.pairs) for shape in shapes]

    with running_server() as server:
        if options.alone:
            print("\n".join(cost_row(pair, options.seconds) for pair in alone_on(server)))
            return
        turns = []
        for name, clients in LOADS:
            print(f"sampling: {name}, {clients} clients", file=sys.stderr, flush=True)
            turns.append(take_turns(server, name, clients, round(ROUNDS[name] * options.share)))
        alone = alone_on(server)
        stored = [
            run_sampled(
                server, Shape(name, clients, options.stored_seconds), sampled=True, stored=True
            )
            for name, clients in LOADS
        ]
        text = page(server, turns, alone, options.pairs, options.seconds)
        text += "\n".join(disk(stored, options.stored_seconds)) + "\n"
    options.out.write_text(text, "utf-8")
    print(f"written: {options.out}", file=sys.stderr)


def paired(server: Server, shape: Shape, rounds: int) -> Pair:
    """Alternating, first one first, then the other."""
    print(f"sampling: {shape.scenario}, {shape.clients} clients", file=sys.stderr, flush=True)
    runners: dict[str, Callable[[], Sample]] = {
        "off": partial(run_sampled, server, shape, sampled=False),
        "on": partial(run_sampled, server, shape, sampled=True),
    }
    return Pair(shape, alternate(runners, rounds))


def page(
    server: Server, turns: Sequence[Turns], alone: Sequence[Pair], pairs: int, seconds: float
) -> str:
    """The whole of docs/measured/sampling-costs.md."""
    settings = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
    lines = [
        "# What sampling costs",
        "",
        "Made by `python -m bench.sampling` (a part of `make bench`), with the samplers of an"
        " experiment at their defaults: waits at 10 Hz, the rest each second.",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d}; {machine.this_machine()}",
        f"- PostgreSQL {server.version}, scale {SCALE}, {settings}; the load has one thread and"
        " prepared statements, and keeps both processors busy in select-only",
        "",
        "## Throughput",
        "",
        "Beside one long load the samplers, a process of their own here, work and are stopped"
        " (SIGSTOP) by turns of 2.25 s in random order, of which the first 0.25 s is cut; the ratio"
        " is a geometric mean over rounds, with its 95 % interval. *Samplers* and *their sessions*"
        " are shares of one processor, as the kernel booked them: what they take is taken from the"
        " load, also where the ratio's interval is too wide to tell 1 %.",
        "",
        "| script | clients | rounds | throughput on against off | wanted | samplers |"
        " their sessions | of all processors |",
        "|---|---|---|---|---|---|---|---|",
        *(turns_row(found) for found in turns),
        "",
        "## Processor and memory",
        "",
        f"{pairs} pairs of runs of {seconds:g} s, with samplers and without. The share is of the"
        " samplers' own threads. Memory is the peak of the process with them less that without.",
        "",
        "| sessions | share of a core | wanted | readings late | memory MB | wanted |",
        "|---|---|---|---|---|---|",
        *(cost_row(pair, seconds) for pair in alone),
    ]
    return "\n".join(lines) + "\n"


def disk(stored: Sequence[Sample], seconds: float) -> list[str]:
    """What a day of each load would take, from what some seconds of it did."""
    rows = []
    for (name, clients), sample in zip(LOADS, stored, strict=True):
        cost = sample.sampler or {}
        megabytes = [cost[f"{table}_bytes"] / seconds * DAY_S / 1e6 for table in STORED]
        cells = " | ".join(f"{one:.0f}" for one in (*megabytes, sum(megabytes)))
        rows.append(f"| {name} | {clients} | {sample.tps:.0f} | {cells} | 300 |")
    return [
        "",
        "## Disk",
        "",
        f"Megabytes that a day would take, from {seconds:g} s written as a trial's files.",
        "",
        f"| script | clients | tps | {' | '.join(STORED)} | all | wanted |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
    ]


def turns_row(found: Turns) -> str:
    processors = machine.this_machine().processors
    everything = (found.own_share + found.session_share) / processors
    return (
        f"| {found.shape.scenario} | {found.shape.clients} | {found.rounds} |"
        f" {found.ratio:.3f} ({found.low:.3f} to {found.high:.3f}) | 0.99 |"
        f" {found.own_share:.2%} | {found.session_share:.2%} | {everything:.2%} |"
    ).replace("%", " %")


def cost_row(pair: Pair, seconds: float) -> str:
    costs = [sample.sampler for sample in pair.samples["on"] if sample.sampler is not None]
    share = statistics.median(100.0 * cost["cpu_s"] / seconds for cost in costs)
    late = sum(int(cost["late_ticks"]) for cost in costs)
    ticks = sum(int(c["wait_ticks"] + c["counter_reads"] + c["host_reads"]) for c in costs)
    more = [
        (with_them.memory_kb - without.memory_kb) / 1024
        for with_them, without in zip(pair.samples["on"], pair.samples["off"], strict=True)
    ]
    wanted = BACKENDS.get(pair.shape.clients, "")
    return (
        f"| {pair.shape.clients} ({pair.shape.scenario}) | {share:.2f} % | {wanted} |"
        f" {late} of {ticks} | {statistics.median(more):.1f} | 40 |"
    )


if __name__ == "__main__":
    main()
