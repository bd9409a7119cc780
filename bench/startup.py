"""The CPU that commands spend on starting, beside `python -c pass`: `python -m bench.startup`.

Enters: how many rounds. Leaves: docs/measured/startup-times.md. Never: asserts anything; that no
command imports a heavy library for its help is asserted in tests/unit/cli/test_help.py.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.many_runs import make_many_runs
from bench.tables import page, table

OUTPUT = MEASURED / "startup-times.md"
RUNS_LISTED = 1000
BASE = "python -c pass"


def commands(runs: Path) -> dict[str, Sequence[str]]:
    """What is started, by the name it has in the table."""
    own = [sys.executable, "-m", "pgassay"]
    return {
        BASE: [sys.executable, "-c", "pass"],
        "pgassay --help": [*own, "--help"],
        f"pgassay list ({RUNS_LISTED:,} runs)": [*own, "list", str(runs)],
        f"pgassay sql, verdicts ({RUNS_LISTED:,} runs)": [
            *own,
            "sql",
            "select verdict, count(*) from verdicts group by 1",
            str(runs),
        ],
        f"pgassay sql, waits ({RUNS_LISTED:,} runs)": [
            *own,
            "sql",
            "select wait_event, count(*) from waits group by 1",
            str(runs),
        ],
        "import pgassay": [sys.executable, "-c", "import pgassay"],
        "pgassay load --help": [*own, "load", "--help"],
        # Everything that a load does before its first byte to a server: nobody listens there.
        "pgassay load, until it connects": [*own, "load", "-S", "-h", "127.0.0.1", "-p", "1"],
        "pgassay run --help": [*own, "run", "--help"],
        "pgassay doctor": [*own, "doctor"],
    }


def cpu_ms(words: Sequence[str]) -> float:
    """User and system time of one process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, capture_output=True, check=False, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measured(rounds: int) -> Mapping[str, list[float]]:
    """Milliseconds of each command, one after the other in every round."""
    with tempfile.TemporaryDirectory() as folder:
        make_many_runs(Path(folder), RUNS_LISTED)
        started = commands(Path(folder))
        for words in started.values():  # byte code and file cache
            cpu_ms(words)
        found: dict[str, list[float]] = {name: [] for name in started}
        for _ in range(rounds):
            for name, words in started.items():
                found[name].append(cpu_ms(words))
    return found


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="starts of each command [10]")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    found = measured(options.rounds)
    rows = [
        (
            name,
            f"{statistics.median(times):.0f}",
            f"{min(times):.0f} to {max(times):.0f}",
            f"{statistics.median(a / b for a, b in zip(times, found[BASE], strict=True)):.1f}",
        )
        for name, times in found.items()
    ]
    about = (
        "Made by `make bench`: user and system time from the start of a process to its end, median"
        f" of {options.rounds} rounds. The ratio is to `{BASE}` in the same round.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {this_machine()}; Python {sys.version.split()[0]};"
        f" load average {load_average():.1f}."
    )
    head = ("command", "CPU, ms", "least to most", "× `python -c pass`")
    options.out.write_text(page("CPU time of starting", about, {"": table(head, rows)}), "utf-8")
    print(f"written: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
