"""How long a reset of 1 GB takes, step by step: `python -m bench.resets [DIRECTORY …]`.

Enters: directories on the file systems to try (PGASSAY_DATA's where none is named). Leaves:
docs/measured/reset-times.md. Never: hides the effect of other writers: half of
the rounds run beside one.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.server import MAJOR, NoJournal
from pgassay.server.hosts.account import server_account
from pgassay.server.owned.installation import embedded_installation
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.owned.workspace import DATA_VARIABLE, base_directory
from pgassay.server.protocol import Connection, ResetReport
from pgassay.spec.workload.folder import load_workload

OUTPUT = MEASURED / "reset-times.md"
SCALES = (1, 40)
ROUNDS = 3
WANTED_S = 10.0
# What a trial does to the data, in short: pages all over the largest table are changed.
TOUCH = "UPDATE pgbench_accounts SET abalance = 1 WHERE aid % 50 = 0"
PIECE = bytes(1 << 20)


@dataclass(frozen=True)
class Row:
    """One file system, beside a writer or not."""

    where: str
    beside: str
    reports: tuple[ResetReport, ...]
    data_gb: float


@contextmanager
def writer(folder: Path) -> Iterator[None]:
    """A process that writes to the same file system without syncing, as a compiler does."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number = (number + 1) % 8
            with (folder / f"other-{number}").open("wb") as file:
                for _ in range(64):
                    file.write(PIECE)
            stop.wait(0.1)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def measure(base: Path, scale: int) -> list[Row]:
    """Rounds without and beside a writer."""
    os.environ[DATA_VARIABLE] = str(base)
    workload = load_workload("pgbench", Path(), file="bench")
    target = OwnedTarget(NewCluster(embedded_installation(MAJOR)), NoJournal(), kind="embedded")

    def build(connection: Connection) -> None:
        for statements in workload.building_sql(scale):
            connection.execute(statements.encode())

    rows = []
    try:
        facts = target.open()
        target.prepare(build, {"max_wal_size": "512MB"})
        size = used_gb(Path(facts.data_directory or ""))
        rows.append(Row(kind_of(base), "nobody", rounds(target), size))
        with tempfile.TemporaryDirectory(dir=base) as folder, writer(Path(folder)):
            rows.append(Row(kind_of(base), "a writer", rounds(target), size))
    finally:
        target.close()
    return rows


def rounds(target: OwnedTarget) -> tuple[ResetReport, ...]:
    """Resets after the data was changed."""
    found = []
    for _ in range(ROUNDS):
        with target.connect() as session:
            session.execute(TOUCH)
        found.append(target.reset({}))
    return tuple(found)


def kind_of(base: Path) -> str:
    """The file system's name."""
    command = ["/usr/bin/findmnt", "-n", "-o", "FSTYPE", "-T", str(base)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def used_gb(data: Path) -> float:
    """The size of a data directory."""
    found = sum(path.lstat().st_size for path in data.rglob("*") if path.is_file())
    return found / 2**30


def page(rows: Sequence[Row]) -> str:
    """The tables as Markdown."""
    phases = list(rows[0].reports[0].phases)
    lines = [
        "# How long a reset takes",
        "",
        "Made by `python -m bench.resets`: an owned server is reset from its snapshot after an"
        f" UPDATE all over its largest table. Seconds, medians of {ROUNDS} rounds, with the least"
        " and the greatest of the whole. *copy* removes the old data directory, copies the frozen"
        " one and has it written to disk. *a writer* dirties 64 MB files on the same file system"
        " meanwhile.",
        "",
        f"- {datetime.now(UTC).date()}; {this_machine()}",
        f"- PostgreSQL {MAJOR}, pgbench scales {SCALES}; load average {load_average():.1f}",
        "",
        f"| file system | data GB | beside | {' | '.join(phases)} | whole | < 10 s |",
        "|---" * (len(phases) + 5) + "|",
    ]
    for row in rows:
        whole = [report.duration_s for report in row.reports]
        steps = [statistics.median(r.phases[name] for r in row.reports) for name in phases]
        lines.append(
            f"| {row.where} | {row.data_gb:.2f} | {row.beside} | "
            + " | ".join(f"{seconds:.2f}" for seconds in steps)
            + f" | {statistics.median(whole):.2f} ({min(whole):.2f} to {max(whole):.2f})"
            + f" | {'yes' if max(whole) < WANTED_S else 'no'} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Measure and write."""
    named = [Path(one).absolute() for one in arguments]
    bases = named or [base_directory(server_account())]
    rows: list[Row] = []
    for scale in SCALES:
        for base in bases:
            rows += measure(base, scale)
            OUTPUT.write_text(page(rows), "utf-8")
    print(page(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
