"""What parameters from a file cost beside `\\set random`: `python -m bench.parameters`.

Enters: how many rounds, how long a load lasts. Leaves: docs/measured/parameters.md. Never: asserts
anything. A separate process runs each load (`bench.parameters.load.py`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.server import SCALE, running_server
from bench.tables import page, table

OUTPUT = MEASURED / "parameters.md"
ROWS = 1_000_000
ACCOUNTS = 100_000 * SCALE
NAMES = ("a", "b", "c", "d", "e")
ONE = "SELECT abalance FROM pgbench_accounts WHERE aid = :a;\n"
FIVE = "SELECT :a::int8, :b::int8, :c::int8, :d::int8, :e::int8;\n"
TEXTS = "SELECT :a::int8, :b::text, :c::float8, :d::bool, :e::timestamp;\n"
SET = {name: f"\\set {name} random(1, {ACCOUNTS})\n" for name in NAMES}
CASES = {
    "a key: `\\set`": (SET["a"] + ONE, None),
    "a key: one column of a file": (ONE, "one.parquet"),
    "five numbers: `\\set`": ("".join(SET.values()) + FIVE, None),
    "five numbers: columns of a file": (FIVE, "five.parquet"),
    "five columns: number, text of 20, double, boolean, timestamp": (TEXTS, "texts.parquet"),
}
"""Each case with its script and file; one without a file is what those after it stand beside."""


def write_files(folder: Path) -> None:
    """The files of all cases, of as many rows each."""
    random = np.random.default_rng(1)
    numbers = {name: random.integers(1, ACCOUNTS, ROWS, endpoint=True) for name in NAMES}
    pq.write_table(pa.table({"a": numbers["a"]}), folder / "one.parquet")
    pq.write_table(pa.table(numbers), folder / "five.parquet")
    texts = {
        "a": numbers["a"],
        "b": pa.array([f"customer {number:011}" for number in numbers["b"]]),
        "c": random.random(ROWS),
        "d": random.random(ROWS) < 0.5,
        "e": pa.array(numbers["e"] * 1_000_000, pa.timestamp("us")),
    }
    pq.write_table(pa.table(texts), folder / "texts.parquet")


def measured(rounds: int, seconds: float) -> dict[str, list[dict[str, float]]]:
    """Of each case what each of its loads took; the cases take turns."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as folder, running_server() as server:
        write_files(Path(folder))
        at = server.parameters
        place = {"host": at.host, "port": at.port, "user": at.user, "dbname": at.dbname}
        for _ in range(rounds):
            for name, (script, file) in CASES.items():
                path = None if file is None else str(Path(folder, file))
                asked = {"script": script, "file": path, "at": place}
                words = json.dumps({**asked, "clients": 4, "seconds": seconds})
                done = subprocess.run(
                    [sys.executable, "-m", "bench.parameters.load", words],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                found[name].append(json.loads(done.stdout))
    return found


def rows_of(found: Mapping[str, list[dict[str, float]]]) -> list[tuple[str, ...]]:
    """The lines of the table."""
    rows, beside = list[tuple[str, ...]](), list[float]()
    for name, (_, file) in CASES.items():
        us = [each["us"] for each in found[name]]
        beside = us if file is None else beside
        ratios = [own / other for own, other in zip(us, beside, strict=True)]
        rows.append(
            (
                name,
                f"{statistics.median(us):.2f}",
                f"{min(us):.2f} to {max(us):.2f}",
                f"{statistics.median(ratios):.3f}",
                f"{max(each['mb'] for each in found[name]):.0f}",
            )
        )
    return rows


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="loads of each case [7]")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each [5]")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    found = measured(options.rounds, options.seconds)
    about = (
        f"Made by `make bench`: CPU time of the engine for each transaction, with 4 clients and the"
        f" prepared protocol, medians of {options.rounds} loads of {options.seconds:g} s that took"
        f" turns. Files have {ROWS:,} rows in Parquet, drawn at random. The ratio is to the case"
        " with `\\set` above, in the same round; memory is the most that the whole process had,"
        " with Python and pyarrow.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {this_machine()}; load average {load_average():.1f}."
    )
    head = ("script", "CPU, µs", "least to most", "CPU × `\\set`", "memory, MB")
    lines = table(head, rows_of(found))
    options.out.write_text(page("Costs of parameters from files", about, {"": lines}), "utf-8")
    print(f"written: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
