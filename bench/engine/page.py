"""Writes docs/measured/benchmarks.md from the measured parts.

Enters: parts. Leaves: the page. Never: drops a round; the table counts rounds that other processes
disturbed.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import machine
from bench.comparison import cpu_us, latency_ms, median, ratio, tps
from bench.engine.processes import Sample, Shape
from bench.server import SCALE, SETTINGS, Server

DISTURBED = 0.15
# Clients to the most that was promised: CPU per transaction, the least: throughput.
TARGETS = {
    ("select-only", 8): "0.70 / 1.10",
    ("select-only", 64): "0.56 / 1.12",
    ("select-only", 1000): "0.60 / 1.15",
    ("tpcb-like", 8): "0.80 / –",
}


@dataclass(frozen=True)
class Part:
    """One comparison: samples by program, the first being the reference."""

    kind: str
    shape: Shape
    samples: Mapping[str, Sequence[Sample]]
    start_cpu_s: Mapping[str, float]


def write_page(
    path: Path, parts: Sequence[Part], server: Server, rounds: int, seconds: float
) -> None:
    """Write the page as a whole."""
    settings = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
    lines = [
        "# Benchmarks of the load engine",
        "",
        "Made by `make bench`: the engine beside pgbench on one server and one machine, one"
        " thread each, prepared statements, a unix socket, Describe sent by both. Programs"
        f" alternate, {rounds} rounds of {seconds:g} s; ratios are medians of those of the same"
        " round, with the least and the greatest.",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d}; {machine.this_machine()}",
        f"- PostgreSQL and pgbench {server.version}, scale {SCALE}, {settings}",
        f"- load average before the runs: {load_averages(parts)}; *disturbed*: runs during which"
        f" others used more than {DISTURBED:g} of a processor",
        "",
    ]
    sections = [
        speed_section(parts, "speed", "Client CPU and throughput", SPEED_NOTE),
        speed_section(parts, "pinned", "Client and server on processors of their own", PIN_NOTE),
        connections_section(parts),
        simple_section(parts, "intervals", "Intervals of 100 ms", "1 s"),
        simple_section(parts, "agreement", "Agreement with pgbench's own report", "pgbench"),
        simple_section(parts, "command", "The whole command", "pgbench"),
    ]
    for section in sections:
        lines += section
    path.write_text("\n".join(lines).rstrip() + "\n", "utf-8")


SPEED_NOTE = (
    "CPU is user and system time of the whole process per transaction, less that of a run of one"
    " transaction per client (starting and connecting), for both programs alike. *wanted* are"
    " the CPU ratio at most and the throughput ratio at least."
)
PIN_NOTE = (
    "The client is kept on one processor, the server on the others. On virtual machines a lighter"
    " client can be the slower one here, unless it looks for answers before it sleeps;"
    " docs/load.md says why. CPU includes the looking."
)


def speed_section(parts: Sequence[Part], kind: str, title: str, note: str) -> list[str]:
    """CPU and throughput of each transport against pgbench."""
    rows = []
    for part in chosen(parts, kind):
        theirs = part.samples["pgbench"]
        base_us = median(theirs, cpu_us(part.start_cpu_s["pgbench"]))
        for name, ours in part.samples.items():
            if name == "pgbench":
                continue
            # Each against its own start, as a ratio of the same round.
            start, base = part.start_cpu_s[name], part.start_cpu_s["pgbench"]
            cpu = ratio_of_cpu(ours, theirs, start, base)
            wanted = TARGETS.get((part.shape.scenario, part.shape.clients), "")
            rows.append(
                f"| {part.shape.scenario} | {part.shape.clients} | {name} | {base_us:.2f} |"
                f" {median(ours, cpu_us(start)):.2f} | {cpu} | {median(theirs, tps):.0f} |"
                f" {median(ours, tps):.0f} | {ratio(ours, theirs, tps)} |"
                f" {wanted if kind == 'speed' else ''} | {disturbed([*ours, *theirs])} |"
            )
    head = [
        "| script | clients | transport | pgbench µs | engine µs | CPU ratio | pgbench tps |"
        " engine tps | tps ratio | wanted | disturbed |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    return section(title, note, head, rows)


def ratio_of_cpu(
    ours: Sequence[Sample], theirs: Sequence[Sample], start: float, base: float
) -> str:
    """Median, least and greatest of the rounds' ratios."""
    pairs = zip(ours, theirs, strict=True)
    found = [cpu_us(start)(a) / cpu_us(base)(b) for a, b in pairs]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def connections_section(parts: Sequence[Part]) -> list[str]:
    """Memory per connection and the time to open them, out of the speed runs."""
    speed = chosen(parts, "speed")
    many = next((part for part in speed if part.shape.clients >= 1000), None)
    few = next((part for part in speed if part.shape.clients < 1000), None)
    if many is None or few is None:
        return []
    more = many.shape.clients - few.shape.clients
    rows = []
    for name in many.samples:
        peaks = [median(part.samples[name], lambda s: s.memory_kb) for part in (many, few)]
        opening_s = [sample.connecting_s or 0.0 for sample in many.samples[name]]
        rows.append(
            f"| {name} | {(peaks[0] - peaks[1]) / more:.1f} | {statistics.median(opening_s):.2f} |"
        )
    head = [
        f"| program | kB per connection | s to open {many.shape.clients} connections |",
        "|---|---|---|",
    ]
    note = (
        "Peak memory with many connections less that with few, by their number. io_uring's is"
        " mostly the pool of receive buffers, 16 kB each and at most 1024, however many"
        " connections share it."
    )
    return section("Connections", note, head, rows)


def simple_section(parts: Sequence[Part], kind: str, title: str, base: str) -> list[str]:
    """Every program against the one named `base`."""
    rows = []
    for part in chosen(parts, kind):
        theirs = part.samples[base]
        for name, ours in part.samples.items():
            engine_us = [s.engine_cpu_s * 1e6 / s.transactions for s in ours if s.engine_cpu_s]
            rows.append(
                f"| {part.shape.scenario} | {part.shape.clients} | {name} |"
                f" {median(ours, cpu_us()):.2f} | {ratio(ours, theirs, cpu_us())} |"
                f" {f'{statistics.median(engine_us):.2f}' if engine_us else '–'} |"
                f" {ratio(ours, theirs, tps)} | {median(ours, latency_ms):.3f} |"
                f" {ratio(ours, theirs, latency_ms)} | {disturbed([*ours, *theirs])} |"
            )
    head = [
        "| script | clients | program | process µs | ratio | engine's own µs | tps ratio |"
        " mean latency ms | ratio | disturbed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    note = f"Whole processes, starting included, against {base}."
    return section(title, note, head, rows)


def section(title: str, note: str, head: list[str], rows: list[str]) -> list[str]:
    """A heading, a sentence and a table, or nothing where there are no rows."""
    return [f"## {title}", "", note, "", *head, *rows, ""] if rows else []


def chosen(parts: Sequence[Part], kind: str) -> list[Part]:
    return [part for part in parts if part.kind == kind]


def disturbed(samples: Sequence[Sample]) -> str:
    """How many runs other processes disturbed."""
    count = sum(sample.foreign_share > DISTURBED for sample in samples)
    return f"{count} of {len(samples)}"


def load_averages(parts: Sequence[Part]) -> str:
    """The range of the load average before runs."""
    found = [s.load_average for part in parts for samples in part.samples.values() for s in samples]
    return f"{min(found):.1f} to {max(found):.1f}" if found else "none"
