"""What an experiment's samplers cost: throughput with them and without, their own CPU and memory.

Enters: how many rounds. Leaves: docs/sampling-costs.md. Never: asserts anything; runs during which
others used the machine are counted.
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

from bench import machine
from bench.comparison import alternate, median, ratio, tps
from bench.page import DISTURBED
from bench.processes import Sample, Shape, run_sampled
from bench.server import SCALE, SETTINGS, Server, running_server

OUTPUT = Path(__file__).parent.parent / "docs" / "sampling-costs.md"
PAIRS = (("select-only", 64), ("simple-update", 64))
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
    parser.add_argument("--rounds", type=int, default=7, help="pairs of runs [7]")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each run [8]")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    with running_server() as server:
        pairs = [
            paired(server, Shape(name, clients, options.seconds), options.rounds)
            for name, clients in PAIRS
        ]
        alone = [
            paired(server, Shape("select-only", clients, options.seconds), 3)
            for clients in BACKENDS
        ]
        text = page(server, pairs, alone, options.rounds, options.seconds)
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
    server: Server, pairs: Sequence[Pair], alone: Sequence[Pair], rounds: int, seconds: float
) -> str:
    """The whole of docs/sampling-costs.md."""
    settings = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
    lines = [
        "# What sampling costs",
        "",
        "Made by `python -m bench.sampling` (a part of `make bench`): one load, one thread,"
        " prepared statements, with the samplers of an experiment at their defaults (waits at"
        f" 10 Hz, the rest each second) and without, alternating, {rounds} pairs of {seconds:g} s;"
        " ratios are medians of those of the same pair, with the least and the greatest.",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d}; {machine.this_machine()}",
        f"- PostgreSQL {server.version}, scale {SCALE}, {settings}",
        f"- *disturbed*: runs during which others used more than {DISTURBED:g} of a processor",
        "",
        "| script | clients | tps off | tps on | throughput on against off | wanted | disturbed |",
        "|---|---|---|---|---|---|---|",
        *(throughput_row(pair) for pair in pairs),
        "",
        "The samplers' own threads; what the server's sessions that answer them take is part of the"
        " throughput above. Memory is the peak of the process with them less that without.",
        "",
        "| sessions | share of a core | wanted | readings late | memory MB | wanted |",
        "|---|---|---|---|---|---|",
        *(cost_row(pair, seconds) for pair in (*pairs, *alone)),
    ]
    return "\n".join(lines) + "\n"


def throughput_row(pair: Pair) -> str:
    off, on = pair.samples["off"], pair.samples["on"]
    count = sum(sample.foreign_share > DISTURBED for sample in (*off, *on))
    return (
        f"| {pair.shape.scenario} | {pair.shape.clients} | {median(off, tps):.0f} |"
        f" {median(on, tps):.0f} | {finely(on, off)} | 0.99 |"
        f" {count} of {len(off) + len(on)} |"
    )


def finely(on: Sequence[Sample], off: Sequence[Sample]) -> str:
    """To a tenth of a per cent: the effect is of that size."""
    found = ratio(on, off, tps)
    return f"{found.median:.3f} ({found.least:.3f} to {found.greatest:.3f})"


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
