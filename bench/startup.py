"""What commands take from start to end, beside `python -c pass`: `python -m bench.startup`.

Enters: how many rounds. Leaves: docs/measured/startup-times.md. Never: asserts anything; that no
command imports a heavy library for its help is asserted in tests/unit/cli/test_help.py, what
`plan` and `show` leave out in tests/unit/house/test_doors.py.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.many_runs import make_many_runs
from bench.tables import page, table

OUTPUT = MEASURED / "startup-times.md"
RUNS_ASKED, RUNS_LISTED = 1_000, 10_000
"""How many have samples; and how many have only the files that `list` and the table `runs` read."""
BASE = "python -c pass"


EXPERIMENT = """
question = "Does more room for WAL between checkpoints help write-heavy payments?"
[workload]
use = "payments-write"
[factors.postgres]
max_wal_size = ["32MB", "4GB"]
[load]
clients = 8
step = "5s"
[design]
min_blocks = 6
max_blocks = 6
"""
"""What is planned; its forecast is for a host without earlier runs of it."""
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
"""Of what is started: users' Pythons keep their byte code."""


def commands(asked: Path, listed: Path, spec: Path) -> dict[str, Sequence[str]]:
    """What is started, by the name it has in the table."""
    run = str(next(asked.iterdir()))
    own = [sys.executable, "-m", "pgassay"]
    return {
        BASE: [sys.executable, "-c", "pass"],
        "pgassay --help": [*own, "--help"],
        f"pgassay list ({RUNS_ASKED:,} runs)": [*own, "list", str(asked)],
        f"pgassay list ({RUNS_LISTED:,} runs)": [*own, "list", str(listed)],
        f"pgassay sql, runs ({RUNS_LISTED:,} runs)": [
            *own,
            "sql",
            "select state, verdict, count(*) from runs group by all",
            str(listed),
        ],
        f"pgassay sql, verdicts ({RUNS_ASKED:,} runs)": [
            *own,
            "sql",
            "select verdict, count(*) from verdicts group by 1",
            str(asked),
        ],
        f"pgassay sql, waits ({RUNS_ASKED:,} runs)": [
            *own,
            "sql",
            "select wait_event, count(*) from waits group by 1",
            str(asked),
        ],
        "import pgassay": [sys.executable, "-c", "import pgassay"],
        "pgassay load --help": [*own, "load", "--help"],
        # Everything that a load does before its first byte to a server: nobody listens there.
        "pgassay load, until it connects": [*own, "load", "-S", "-h", "127.0.0.1", "-p", "1"],
        "pgassay run --help": [*own, "run", "--help"],
        "pgassay doctor": [*own, "doctor"],
        "pgassay plan SPEC": [*own, "plan", str(spec)],
        "pgassay report RUN": [*own, "report", run],
        "pgassay show RUN": [*own, "show", run],  # what `report` has written
    }


def taken_ms(words: Sequence[str]) -> tuple[float, float]:
    """Milliseconds of one process and its children: user and system time, and by the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, capture_output=True, check=False, timeout=300, env=ENVIRONMENT)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1e3 * cpu_s, 1e3 * (ended - began)


def measured(rounds: int) -> Mapping[str, list[tuple[float, float]]]:
    """What each command took, one after the other in every round."""
    with tempfile.TemporaryDirectory() as folder:
        asked, listed = Path(folder, "asked"), Path(folder, "listed")
        make_many_runs(asked, RUNS_ASKED)
        make_many_runs(listed, RUNS_LISTED, samples=False)
        spec = Path(folder, "experiment.toml")
        spec.write_text(EXPERIMENT, "utf-8")
        started = commands(asked, listed, spec)
        for words in started.values():  # byte code and file cache
            taken_ms(words)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in started}
        for _ in range(rounds):
            for name, words in started.items():
                found[name].append(taken_ms(words))
    return found


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="starts of each command [10]")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    found = measured(options.rounds)
    rows = []
    for name, times in found.items():
        cpu, clock = zip(*times, strict=True)
        ratios = [one[0] / base[0] for one, base in zip(times, found[BASE], strict=True)]
        rows.append(
            (
                name,
                f"{statistics.median(cpu):.0f}",
                f"{min(cpu):.0f} to {max(cpu):.0f}",
                f"{statistics.median(clock):.0f}",
                f"{statistics.median(ratios):.1f}",
            )
        )
    about = (
        "Made by `make bench`: user and system time from the start of a process to its end, and the"
        f" time by the clock, medians of {options.rounds} rounds. The ratio is to `{BASE}` in the"
        " same round.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {this_machine()}; Python {sys.version.split()[0]};"
        f" load average {load_average():.1f}."
    )
    head = ("command", "CPU, ms", "least to most", "clock, ms", "CPU × `python -c pass`")
    options.out.write_text(page("Times of starting", about, {"": table(head, rows)}), "utf-8")
    print(f"written: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
