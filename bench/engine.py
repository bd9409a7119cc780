"""The load engine beside pgbench, on one server in one run: `make bench`.

Enters: the embedded PostgreSQL 18 and its pgbench. Leaves: docs/benchmarks.md.
Never: compares figures of different runs; every ratio is of neighbours in time.

Each round runs pgbench and then the engine on each transport, in an order that turns. CPU is
user plus system time of the client per transaction: of the pgbench process, less what a run of
one transaction per client takes, and of the engine's threads while they measure. Both send
Describe with every execution.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pgassay.spec.workload import load_workload
from pgassay.target.installation import embedded_installation
from pgassay.target.local import LocalTarget
from pgassay.target.protocol import Change, Connection, ConnectionParameters

OUTPUT = Path(__file__).parent.parent / "docs" / "benchmarks.md"
SCALE = 10
SETTINGS = {"shared_buffers": "512MB", "max_connections": "1100", "max_wal_size": "4GB"}
TRANSPORTS = ("io_uring", "epoll")


@dataclass(frozen=True)
class Case:
    """One load that both run."""

    script: str
    clients: int
    cpu_target: float
    tps_target: float | None


CASES = (
    Case("select-only", 8, 0.70, 1.10),
    Case("select-only", 64, 0.56, 1.12),
    Case("select-only", 1000, 0.60, 1.15),
    Case("tpcb-like", 8, 0.80, None),
)


@dataclass(frozen=True)
class Figures:
    """What one run cost and achieved."""

    tps: float
    cpu_us: float
    latency_ms: float


class NoJournal:
    """The server is the bench's own; nothing of it is kept."""

    def record(self, change: Change) -> None: ...
    def undone(self, change_id: str) -> None: ...


def run_pgbench(
    program: Path, where: ConnectionParameters, case: Case, *amount: str
) -> tuple[str, float]:
    """One run of pgbench: its report, and its CPU in seconds."""
    command = [
        str(program), "-n", "-b", case.script, "-M", "prepared", "-j", "1",
        "-c", str(case.clients), *amount,
        "-h", where.host, "-p", str(where.port), "-U", where.user, where.dbname,
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    report = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"pgbench ended with {process.returncode}")
    return report, usage.ru_utime + usage.ru_stime


def measure_pgbench(
    program: Path, where: ConnectionParameters, case: Case, seconds: int
) -> Figures:
    """pgbench's figures, without the CPU it takes to connect."""
    _, connecting_s = run_pgbench(program, where, case, "-t", "1")
    report, cpu_s = run_pgbench(program, where, case, "-T", str(seconds))
    done = _number(r"transactions actually processed: (\d+)", report)
    return Figures(
        tps=_number(r"tps = ([\d.]+)", report),
        cpu_us=(cpu_s - connecting_s) / done * 1e6,
        latency_ms=_number(r"latency average = ([\d.]+) ms", report),
    )


def run_engine(where: ConnectionParameters, case: Case, seconds: int, transport: str) -> Figures:
    """One run of `pgassay load`."""
    command = [
        sys.executable, "-m", "pgassay", "load", "-n", "-b", case.script, "-M", "prepared",
        "-j", "1", "-c", str(case.clients), "-T", str(seconds), "--transport", transport, "--json",
        "-h", where.host, "-p", str(where.port), "-U", where.user, where.dbname,
    ]  # fmt: skip
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return Figures(
        tps=result["tps"],
        cpu_us=result["client_cpu_s"] / result["transactions"] * 1e6,
        latency_ms=result["latency_ms"]["mean"],
    )


def compare(
    program: Path, where: ConnectionParameters, case: Case, rounds: int, seconds: int
) -> list[str]:
    """Table rows of one case, one per transport."""
    found: dict[str, list[Figures]] = {name: [] for name in ("pgbench", *TRANSPORTS)}
    for turn in range(rounds):
        names = list(found)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if name == "pgbench":
                found[name].append(measure_pgbench(program, where, case, seconds))
            else:
                found[name].append(run_engine(where, case, seconds, name))
    rows = []
    for name in TRANSPORTS:
        pairs = list(zip(found[name], found["pgbench"], strict=True))
        tps_target = "" if case.tps_target is None else f"≥ {case.tps_target:.2f}"
        rows.append(
            f"| {case.script} | {case.clients} | {name}"
            f" | {spread([ours.cpu_us / theirs.cpu_us for ours, theirs in pairs])}"
            f" | ≤ {case.cpu_target:.2f}"
            f" | {spread([ours.tps / theirs.tps for ours, theirs in pairs])} | {tps_target}"
            f" | {spread([ours.latency_ms / theirs.latency_ms for ours, theirs in pairs])} |"
        )
        print(rows[-1], flush=True)
    return rows


def spread(ratios: list[float]) -> str:
    """Median with smallest and largest."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def head(rounds: int, seconds: int, version: str, load: float) -> list[str]:
    """What was measured, where and when."""
    return [
        "# Benchmarks",
        "",
        "Made by `make bench`. Ratios of the load engine to pgbench, medians with smallest and"
        f" largest of {rounds} rounds of {seconds} s each; below 1 is less. One engine thread"
        " against `-j 1`, prepared statements over a unix socket, both sending Describe, server"
        " and client on the same cores.",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}; {os.cpu_count()} cores, {platform.system()}"
        f" {platform.release()}; PostgreSQL and pgbench {version}; scale {SCALE};"
        f" load average {load:.2f} at the start.",
        "",
        "| script | clients | transport | CPU per transaction | wanted | tps | wanted"
        " | mean latency |",
        "|---|---|---|---|---|---|---|---|",
    ]


def build(session: Connection) -> None:
    """pgbench's own tables."""
    workload = load_workload("pgbench", Path(), file="bench")
    for statements in workload.building_sql(SCALE):
        session.execute(statements.encode())


def main(rounds: int, seconds: int) -> None:
    """Start a server, run every case, write the page."""
    load = os.getloadavg()[0]
    installation = embedded_installation(18)
    target = LocalTarget(installation, NoJournal(), kind="embedded")
    try:
        target.open()
        target.prepare(build, SETTINGS)
        target.reset({})
        lines = head(rounds, seconds, installation.version, load)
        for case in CASES:
            lines += compare(
                installation.program("pgbench"), target.parameters(), case, rounds, seconds
            )
    finally:
        target.close()
    OUTPUT.write_text("\n".join(lines) + "\n", "utf-8")


def _number(pattern: str, text: str) -> float:
    match = re.search(pattern, text)
    if match is None:
        raise SystemExit(f"pgbench's report has no {pattern!r}:\n{text}")
    return float(match[1])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
