"""What a load from several machines costs beside the load itself: `python -m bench.load_hosts`.

Enters: how many trials. Leaves: docs/measured/load-hosts.md. Never: asserts anything.

The generators are nodes of a Ray cluster on this machine, so there is no network between them, and
they share its processors with the server and with each other: at a rate that leaves most of the
processors idle. A load of one engine in this process is the yardstick.
"""

from __future__ import annotations

import argparse
import logging
import os
import pickle
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from bench import MEASURED
from bench.machine import load_average, memory_kb, this_machine
from bench.server import SCALE, Server, running_server
from bench.tables import page, table
from pgassay.cluster.joining import joined
from pgassay.plan.steps import Step
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.generators.on_ray import GeneratorOnNode, OnRay
from pgassay.trials.load.group import Generators, OnThisMachine

OUTPUT = MEASURED / "load-hosts.md"
GENERATORS = (1, 2, 4, 8)
CLIENTS, RATE, STEP_S = 16, 1000.0, 3.0
INTERVALS, SCENARIOS = 600, 6
SCRIPT = (
    "\\set aid random(1, 100000 * :scale)\n"
    "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
)
TIMES = (
    "generators", "connecting", "clocks", "lead and end", "reports", "merging", "all", "longest",
    "more than one engine",
)  # fmt: skip
SIZES = (
    "generators", "bytes of a progress answer", "kB of a report", "% CPU while the load runs",
    "CPU ms beside the load", "clock error ms", "largest", "largest skew ms",
)  # fmt: skip
STORE_BYTES = 150 * 1024 * 1024


@dataclass
class Trial:
    """One load: seconds of its parts, what was sent."""

    all_s: float = 0.0
    """From asking for connections until the result is there, without the load's own time."""
    spent_s: dict[str, float] = field(default_factory=dict)
    report_bytes: list[int] = field(default_factory=list)
    answer_bytes: list[int] = field(default_factory=list)
    clock_error_ms: float = 0.0
    skew_ms: float = 0.0
    cpu_s: float = 0.0
    """Of this process, while the load ran and outside of it."""
    polling_cpu_s: float = 0.0


class Watched:
    """Generators whose calls are timed."""

    def __init__(self, generators: Generators, trial: Trial) -> None:
        self._generators, self._trial = generators, trial

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generators, name)

    def each(self, method: str, *given: Any, **kept: Any) -> list[Any]:
        """As of the generators."""
        cpu_s = time.process_time()
        found = self._timed(method, lambda: self._generators.each(method, *given, **kept))
        if method == "progress":
            self._trial.polling_cpu_s += time.process_time() - cpu_s
            self._trial.answer_bytes += [len(pickle.dumps(one)) for one in found]
        return found

    def some(self, places: Sequence[int], method: str, limit_s: float) -> list[Any]:
        """As of the generators."""
        found = self._timed(method, lambda: self._generators.some(places, method, limit_s))
        if method == "report":
            self._trial.report_bytes += [len(pickle.dumps(one)) for one in found]
        return found

    def _timed(self, method: str, work: Callable[[], list[Any]]) -> list[Any]:
        began = time.perf_counter()
        found = work()
        spent = self._trial.spent_s
        spent[method] = spent.get(method, 0.0) + time.perf_counter() - began
        spent[f"{method} ended"] = time.perf_counter()
        spent.setdefault(f"{method} began", began)
        return found


def one_trial(server: Server, generators: Generators) -> Trial:
    """A load of a few seconds whose report has the intervals of ten minutes."""
    trial = Trial()
    names = [f"look-up {number}" for number in range(1, SCENARIOS + 1)]
    request = LoadRequest(
        [Scenario(name=name, file=f"{name}.sql", script=SCRIPT, weight=1.0) for name in names],
        [Step(CLIENTS, STEP_S, rate=RATE, measured=True)],
        {"scale": SCALE},
        seed=1,
        interval_s=STEP_S / INTERVALS,
    )
    began, cpu_s = time.perf_counter(), time.process_time()
    load = EngineLoad(request, server.parameters, Watched(generators, trial), dsn=_dsn(server))
    result = load.run(lambda _: None)
    ended = time.perf_counter()
    trial.all_s, trial.cpu_s = ended - began - STEP_S, time.process_time() - cpu_s
    own = result.get("generators", ())
    trial.clock_error_ms = max((one["clock_error_ms"] for one in own), default=0.0)
    trial.skew_ms = max((one["start_skew_ms"] for one in own), default=0.0)
    spent = trial.spent_s
    connected = spent.get("now_ns began", spent["start began"])
    trial.spent_s = {
        "connecting": connected - began,
        "clocks": spent["start began"] - connected,
        "lead and end": spent["progress ended"] - spent["start began"] - STEP_S,
        "reports": spent["report"],
        "merging": ended - spent["progress ended"] - spent["report"],
    }
    return trial


def _dsn(server: Server) -> str:
    reached = server.parameters
    return f"host={reached.host} port={reached.port} user={reached.user} dbname={reached.dbname}"


@contextmanager
def ray_nodes(count: int) -> Iterator[str]:
    """The address of a cluster of so many nodes on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster()
    try:
        for _ in range(count):
            cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES, include_dashboard=False)
        yield str(cluster.address)
    finally:
        cluster.shutdown()


def trials_of(server: Server, rounds: int) -> tuple[dict[int, list[Trial]], dict[str, float]]:
    """By number of generators, 0 for the engine of this process; every round has each. And the
    memory (MB) of a generator's process and of a raylet, medians."""
    found: dict[int, list[Trial]] = {number: [] for number in (0, *GENERATORS)}
    most = max(GENERATORS)
    with (
        ray_nodes(most) as address,
        joined(address) as cluster,
        cluster.spread(GeneratorOnNode, most, cpus=1) as actors,
    ):
        one_trial(server, OnRay(actors, goes_on=False))  # the first of a run imports and connects
        for _ in range(rounds):
            found[0].append(one_trial(server, OnThisMachine()))
            for number in GENERATORS:
                found[number].append(one_trial(server, OnRay(actors[:number], goes_on=False)))
        programs = {"generator": "ray::GeneratorOnNode", "raylet": "raylet"}
        memory_mb = {name: _median_mb(program) for name, program in programs.items()}
    return found, memory_mb


def _median_mb(program: str) -> float:
    sizes_kb = [
        memory_kb(one.pid)
        for one in psutil.process_iter(["name", "cmdline"])
        if one.info["name"] == program or " ".join(one.info["cmdline"] or ()).startswith(program)
    ]
    return statistics.median(sizes_kb or [0]) * 1024 / 1e6


def _name(number: int) -> str:
    return str(number) if number else "none: one engine, in this process"


def time_rows(found: dict[int, list[Trial]]) -> Iterator[Sequence[str]]:
    """Milliseconds by part, medians."""
    local_ms = 1e3 * statistics.median(one.all_s for one in found[0])
    for number, trials in found.items():
        parts = [
            1e3 * statistics.median(one.spent_s[part] for one in trials) for part in TIMES[1:6]
        ]
        all_ms = 1e3 * statistics.median(one.all_s for one in trials)
        worst_ms = 1e3 * max(one.all_s for one in trials)
        shown = [f"{one:.0f}" for one in (*parts, all_ms, worst_ms)]
        yield (_name(number), *shown, f"{all_ms - local_ms:.0f}" if number else "")


def size_rows(found: dict[int, list[Trial]]) -> Iterator[Sequence[str]]:
    """What is sent and used, medians."""
    for number in GENERATORS:
        trials = found[number]
        answers = [size for one in trials for size in one.answer_bytes]
        reports = [size for one in trials for size in one.report_bytes]
        polling = statistics.median(one.polling_cpu_s / STEP_S for one in trials)
        cpu_s = statistics.median(one.cpu_s - one.polling_cpu_s for one in trials)
        yield (
            str(number),
            f"{statistics.median(answers):.0f}",
            f"{statistics.median(reports) / 1e3:.0f}",
            f"{100 * polling:.1f}",
            f"{1e3 * cpu_s:.0f}",
            f"{statistics.median(one.clock_error_ms for one in trials):.2f}",
            f"{max(one.clock_error_ms for one in trials):.2f}",
            f"{max(one.skew_ms for one in trials):.2f}",
        )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="trials of each number [5]")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # of Ray
    with running_server() as server:
        found, memory_mb = trials_of(server, options.rounds)
    about = (
        "Made by `make bench`. What a trial takes beside its load where the load comes from"
        f" several generators: nodes of a Ray cluster on one machine. {CLIENTS} clients at"
        f" {RATE:.0f}/s for {STEP_S:g} s, {INTERVALS} intervals of {SCENARIOS} scenarios. Medians"
        f" of {options.rounds} trials. Wanted: control of a trial in less than 2000 ms.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {this_machine()}; load average {load_average():.1f}."
    )
    sections = {
        "Time beside the load, ms": [
            *table(TIMES, time_rows(found)),
            "",
            "Connecting includes the check that all found the same server; lead and end is from the"
            " first message to start until all are known to have ended, less the load's own time.",
        ],
        "What is sent and used": [
            *table(SIZES, size_rows(found)),
            "",
            "Bytes are those of the answer as Ray's serialisation makes them, without what the"
            " connection adds. CPU is that of the run's process, % of one processor. The"
            f" process of a generator has {memory_mb['generator']:.0f} MB, the raylet of its node"
            f" {memory_mb['raylet']:.0f} MB.",
        ],
    }
    options.out.write_text(page("What load hosts cost", about, sections), "utf-8")
    print(f"written: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
