"""One load as a whole process: pgbench, or pgassay's engine.

Enters: a server and a shape of load. Leaves: a `Sample`: the program's result and its cost.
Never: compares.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench import machine
from bench.server import SCALE, Server

ENGINE = Path(__file__).parent / "engine_process.py"


@dataclass(frozen=True)
class Shape:
    """What is run; `transactions` (of each client) instead of `duration_s` for a start alone."""

    scenario: str
    clients: int
    duration_s: float | None = 5.0
    transactions: int | None = None
    interval_s: float = 1.0
    processors: tuple[int, ...] = ()
    busy_poll_us: int = 0

    def start_alone(self) -> Shape:
        """The same program and connections with almost no load, to measure start-up."""
        return replace(self, duration_s=None, transactions=1)


@dataclass(frozen=True)
class Sample:
    """One run of one program."""

    transactions: int
    tps: float
    mean_latency_ms: float
    cpu_s: float
    """Of the whole process, as the kernel counted it."""
    engine_cpu_s: float | None
    """What the engine said of its own threads."""
    connecting_s: float | None
    memory_kb: int
    foreign_share: float
    """Processors that others used meanwhile."""
    load_average: float
    sampler: dict[str, float] | None = None
    """What the samplers beside it said that they took."""


def run_pgbench(server: Server, shape: Shape) -> Sample:
    """The pgbench of the server's version, one thread."""
    to = server.parameters
    command = [
        str(server.programs / "pgbench"),
        *("-h", to.host, "-p", str(to.port), "-U", to.user, "-n", "-j", "1"),
        *("-M", "prepared", "-s", str(SCALE), "-c", str(shape.clients)),
        *_length(shape),
    ]
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "script.sql"
        script.write_text(server.scenario(shape.scenario).script, "utf-8")
        output, costs = _run(server, [*command, "-f", str(script), to.dbname], shape)
    return Sample(
        transactions=int(_find(r"actually processed: (\d+)", output)),
        tps=float(_find(r"tps = ([\d.]+)", output)),
        mean_latency_ms=float(_find(r"latency average = ([\d.]+)", output)),
        engine_cpu_s=None,
        connecting_s=float(_find(r"initial connection time = ([\d.]+)", output)) / 1000,
        **costs,
    )


def run_engine(server: Server, shape: Shape, transport: str) -> Sample:
    """The engine under a bare interpreter, one thread."""
    command = [sys.executable, str(ENGINE), json.dumps(configuration(server, shape, transport))]
    output, costs = _run(server, command, shape)
    said = json.loads(output)
    if said["backend"] != transport:
        raise RuntimeError(f"{said['backend']} ran instead of {transport}")
    return _engine_sample(said, costs)


def run_sampled(server: Server, shape: Shape, *, sampled: bool, stored: bool = False) -> Sample:
    """The engine with an experiment's samplers in its process, or without; `stored` adds to what
    they took the bytes of each file."""
    asked = {"load": configuration(server, shape, "auto"), **for_samplers(server)}
    asked["stored"] = stored
    if not sampled:
        asked["host"] = None
    command = [sys.executable, "-m", "bench.sampling.sampled_process", json.dumps(asked)]
    output, costs = _run(server, command, shape)
    said = json.loads(output)
    return replace(_engine_sample(said, costs), sampler=said["sampler"])


def for_samplers(server: Server) -> dict[str, Any]:
    """The argument of `bench.sampling.samplers`."""
    return {
        "connection": asdict(server.parameters),
        "version_num": server.facts.version_num,
        "host": asdict(server.sources()),
    }


def configuration(server: Server, shape: Shape, transport: str) -> dict[str, Any]:
    scenario = server.scenario(shape.scenario)
    return {
        "connection": server.parameters.for_core(),
        "application_name": "bench",
        "scenarios": [
            {"name": scenario.name, "file": scenario.file, "script": scenario.script, "weight": 1}
        ],
        "steps": [{"clients": shape.clients, "duration_s": shape.duration_s, "measured": True}],
        "transactions_per_client": shape.transactions,
        "protocol": "prepared",
        "threads": 1,
        "transport": transport,
        "busy_poll_us": shape.busy_poll_us,
        "seed": 1,
        "interval_s": shape.interval_s,
        "variables": {"scale": SCALE},
    }


def run_command(server: Server, shape: Shape) -> Sample:
    """`pgassay load` as a user runs it."""
    to = server.parameters
    command = [
        *(sys.executable, "-m", "pgassay", "load", "--json"),
        *("-h", to.host, "-p", str(to.port), "-U", to.user, "-n", "-j", "1", "-d", to.dbname),
        *("-M", "prepared", "-b", shape.scenario, "-c", str(shape.clients)),
        *_length(shape),
    ]
    output, costs = _run(server, command, shape)
    return _engine_sample(json.loads(output), costs)


def _engine_sample(said: dict[str, Any], costs: dict[str, Any]) -> Sample:
    return Sample(
        transactions=said["transactions"],
        tps=said["tps"],
        mean_latency_ms=said["latency_ms"]["mean"],
        engine_cpu_s=said["client_cpu_s"],
        connecting_s=said.get("connecting_s"),
        **costs,
    )


def _length(shape: Shape) -> list[str]:
    if shape.transactions is not None:
        return ["-t", str(shape.transactions)]
    return ["-T", f"{shape.duration_s:g}"]


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"pgbench said nothing of {pattern!r}: {text}")
    return found[1]


def _run(server: Server, command: list[str], shape: Shape) -> tuple[str, dict[str, Any]]:
    """Standard output and cost of a program that must succeed."""
    machine.wait_for_quiet()
    load_average = machine.load_average()
    pinned = ["taskset", "-c", ",".join(map(str, shape.processors))] if shape.processors else []
    busy, served, began = machine.busy_s(), machine.process_tree_s(server.pid), time.monotonic()
    sessions = machine.children(server.pid)
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen([*pinned, *command], stdout=said, text=True) as process,
    ):
        usage, memory_kb = _reap(process)
        said.seek(0)
        output = said.read()
    lasted = time.monotonic() - began
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {output[-500:]}")
    # Only when a session has ended is its time with the postmaster.
    machine.wait_until(lambda: machine.children(server.pid) <= sessions)
    cpu_s = usage.ru_utime + usage.ru_stime
    served = machine.process_tree_s(server.pid) - served
    return output, {
        "cpu_s": cpu_s,
        "memory_kb": memory_kb,
        "foreign_share": max(0.0, (machine.busy_s() - busy - served - cpu_s) / lasted),
        "load_average": load_average,
    }


def _reap(process: subprocess.Popen[str]) -> tuple[resource.struct_rusage, int]:
    """Wait for the end: what it used, and its peak memory in kB.

    The kernel's own `ru_maxrss` would count the memory of this interpreter, which the process was
    until it became another program.
    """
    memory_kb = 0
    while True:
        memory_kb = max(memory_kb, machine.peak_memory_kb(process.pid))
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage, memory_kb
        time.sleep(0.05)
