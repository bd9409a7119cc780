"""How long it takes to merge the reports of many load hosts: `python -m bench.generators`.

Enters: how many rounds. Leaves: docs/measured/merging-times.md. Never: asserts anything.

One real load with many short intervals makes one report; copies of it stand for those of other
hosts. Each copy has its own place in memory, as reports that came over a network have, and comes
when it is asked for.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.server import SCALE, Server, running_server
from bench.tables import page, table
from pgassay import _core
from pgassay.plan.steps import Step
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import REPORTS_AT_A_TIME, EngineLoad
from pgassay.trials.load.group import OnThisMachine

OUTPUT = MEASURED / "merging-times.md"
GENERATORS = (1, 2, 4, 8, 16, 32, 64)
INTERVALS, INTERVAL_S, CLIENTS = 600, 0.1, 8
SCENARIOS = 6
SCRIPT = (
    "\\set aid random(1, 100000 * :scale)\n"
    "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
)

_T = TypeVar("_T")


@dataclass(frozen=True)
class Load:
    """A load that has run: its configuration and what its engine reported."""

    configuration: str
    report: bytes
    result: dict[str, Any]
    buckets: float
    """Used buckets of an interval and scenario."""


def one_load(server: Server) -> Load:
    """As many intervals and scenarios as a trial of ten minutes has."""
    names = [f"look-up {number}" for number in range(1, SCENARIOS + 1)]
    request = LoadRequest(
        [Scenario(name=name, file=f"{name}.sql", script=SCRIPT, weight=1.0) for name in names],
        [Step(CLIENTS, INTERVALS * INTERVAL_S, measured=True)],
        {"scale": SCALE},
        seed=1,
        interval_s=INTERVAL_S,
    )
    load = EngineLoad(request, server.parameters, OnThisMachine())
    result = load.run(lambda _: None)
    report = load.native.report() if load.native is not None else b""
    configuration = request.configuration(server.parameters)
    alone = _core.Merging(configuration)
    alone.add([report])
    rows = alone.finish(0).intervals()["latency_ns"]
    buckets = statistics.mean(len(row) for row in rows if isinstance(row, list))
    return Load(configuration, report, result, buckets)


def merging(load: Load, generators: int) -> tuple[float, ...]:
    """Milliseconds of merging, of the result, of the columns of intervals."""
    adding = _core.Merging(load.configuration)
    merge_ms = 0.0
    for first in range(0, generators, REPORTS_AT_A_TIME):
        size = min(REPORTS_AT_A_TIME, generators - first)
        reports = [bytes(bytearray(load.report)) for _ in range(size)]
        took_ms, _ = timed(partial(adding.add, reports))
        merge_ms += took_ms
        del reports
    took_ms, merged = timed(lambda: adding.finish(0))
    result_ms, result = timed(merged.result)
    intervals_ms, _ = timed(merged.intervals)
    if json.loads(result)["transactions"] != generators * load.result["transactions"]:
        raise SystemExit("transactions were lost or counted twice")
    return merge_ms + took_ms, result_ms, intervals_ms


def timed(work: Callable[[], _T]) -> tuple[float, _T]:
    """Milliseconds that it took, and what it returned."""
    began = time.perf_counter()
    done = work()
    return 1e3 * (time.perf_counter() - began), done


def rows_of(load: Load, rounds: int) -> list[Sequence[str]]:
    """Medians by number of generators; every round measures each."""
    found: dict[int, list[tuple[float, ...]]] = {number: [] for number in GENERATORS}
    for _ in range(rounds):
        for number in GENERATORS:
            found[number].append(merging(load, number))
    rows: list[Sequence[str]] = []
    for number, times in found.items():
        parts = tuple(statistics.median(part) for part in zip(*times, strict=True))
        one = zip(times, found[GENERATORS[0]], strict=True)
        ratio = statistics.median(sum(some) / sum(first) for some, first in one)
        size_mb = number * len(load.report) / 1e6
        shown = (f"{part:.0f}" for part in (*parts, sum(parts)))
        rows.append((str(number), f"{size_mb:.1f}", *shown, f"{ratio:.1f}"))
    return rows


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="merges of each number [5]")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    with running_server() as server:
        load = one_load(server)
    about = (
        f"Made by `make bench`. Reports of load hosts with {INTERVALS} intervals of {SCENARIOS}"
        " scenarios, as a trial of ten minutes has, are merged into one result. They are copies of"
        f" a real one: {load.result['transactions'] / INTERVALS:.0f} transactions and"
        f" {SCENARIOS} × {load.buckets:.0f} used buckets an interval,"
        f" {len(load.report) / 1e6:.2f} MB. Medians of {options.rounds} rounds, in milliseconds;"
        " the ratio is to one report in the same round. Reports come"
        f" {REPORTS_AT_A_TIME} at a time, as in a run. Wanted: 64 of them in less than 1000 ms on"
        " two processors.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {this_machine()}; load average {load_average():.1f}."
    )
    head = ("reports", "MB", "merge", "result", "intervals", "all", "× one report")
    written = page(
        "Time of merging reports", about, {"": table(head, rows_of(load, options.rounds))}
    )
    options.out.write_text(written, "utf-8")
    print(f"written: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
